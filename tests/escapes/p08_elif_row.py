# kind: parse
# tries: a row of two thousand elif: deep in the tree, flat in the text
def solution(agent, start_from=1):
    x = 1
    if x == 0: pass
# repeat for k from 0 to 1999
    elif x == <k>: pass
# end
