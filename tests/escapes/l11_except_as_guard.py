# kind: names
# tries: except … as binds, and deletes at the end, whatever name it is given
def solution(agent, start_from=1):
    try:
        1 / 0
    except ZeroDivisionError as _getattr_:
        pass
    print('CANARY-BIND', agent.goto)
