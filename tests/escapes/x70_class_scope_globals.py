# id: x70_class_scope_globals
# kind: names
# tries: a class declares names of the runtime global and binds them
# a correct runtime must: reject at check time, or raise inside the plan, or stop it; nothing of the host may become visible or change
def solution(agent, start_from=1):
    class A:
        global agent, print, _fail_, start_from
        agent = 1
        def print(*a): pass
