# kind: names
# tries: captures in patterns bind names of the runtime: `case _getattr_`, `**_builtins`, `*agent`
def solution(agent, start_from=1):
    match {'a': 1, 'b': [1, 2]}:
        case {'a': _getattr_, **__builtins__}:
            print('CANARY-BIND')
    match [1, 2]:
        case [*_apply_]:
            print('CANARY-BIND')
