# id: s08_error_args_nested
# kind: flood
# tries: an exception whose arguments are huge, nested and cyclic, as the last word
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    a = [0] * 1000
    a.append(a)
    raise KeyError({'k' + str(i): a for i in range(1000)})
