# kind: flood
# tries: an exception with a message of 100 MB, never caught
def solution(agent, start_from=1):
    raise ValueError('x' * 10**8)
