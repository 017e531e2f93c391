# kind: format
# tries: repr of functions and façades tells file paths of the runtime
def solution(agent, start_from=1):
    import json, re
    for value in (agent, ask, print, getattr, json, re, literal_eval, agent.goto, 'x'.format, json.dumps, (x for x in [])):
        text = repr(value) + str(value) + ascii(value) + f'{value}'
        if '/' in text or '.py' in text: print('CANARY-PATH', text)
