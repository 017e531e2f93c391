# kind: exc
# tries: except* makes a group whose split() and derive() call back (CVE-2025-22153)
def solution(agent, start_from=1):
    try:
        raise ExceptionGroup('g', [ValueError(1), TypeError(2)])
    except* ValueError as group:
        print('CANARY-WALK', group.exceptions[0].__traceback__, group.derive)
