# id: k02_alias_enum_sys
# kind: walk
# tries: an alias of an allowed module, and its public attribute `enum` that leads to sys.modules
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    import re as pattern
    print(pattern.enum.sys.modules['os'].popen('touch @MARKER@').read())
