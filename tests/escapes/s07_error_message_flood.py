# id: s07_error_message_flood
# kind: flood
# tries: an exception with a message of 100 MB, never caught
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    raise ValueError('x' * 10**8)
