# id: n13_sort_callback_loop
# kind: cpu
# tries: sort with a key function that itself sorts
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    def key(x):
        return sorted(range(10**6), key=lambda y: -y)[0]
    sorted(range(10**6), key=key)
