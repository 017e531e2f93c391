# kind: guards
# tries: write without a subscript: dict.update, setdefault, list.append on what the runtime keeps
def solution(agent, start_from=1):
    for value in (getattr, print, ask, literal_eval):
        for name in ('update', 'setdefault', 'append', 'cache_clear', 'clear', 'register'):
            try:
                method = getattr(value, name)
                print('CANARY-WRITE', method)
            except AttributeError:
                pass
    ValueError.args = 'FORGED'
