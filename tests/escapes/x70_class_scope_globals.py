# kind: names
# tries: a class declares names of the runtime global and binds them
def solution(agent, start_from=1):
    class A:
        global agent, print, _fail_, start_from
        agent = 1
        def print(*a): pass
