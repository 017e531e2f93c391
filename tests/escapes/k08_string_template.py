# id: k08_string_template
# kind: walk
# tries: string.Template and string.Formatter stay reachable beside the constants
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    import string
    print(string.Template('$x').substitute(x='CANARY-WALK'))
    print(string.Formatter().vformat('{0._secret}', (agent,), {}))
