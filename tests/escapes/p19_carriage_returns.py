# kind: parse
# tries: lines that end in a lone carriage return: a comment for one reader, code for another
def solution(agent, start_from=1):
    x = 1  # a comment    print(__import__('os').environ)
    y = 2# vertical tab
