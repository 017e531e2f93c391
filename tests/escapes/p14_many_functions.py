# kind: parse
# tries: nine hundred helper functions that call each other: closures over closures for a checker of names
def solution(agent, start_from=1):
# repeat for k from 0 to 899
    def f<k>(): return f<7*k+1 mod 900>()
# end
