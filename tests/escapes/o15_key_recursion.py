# id: o15_key_recursion
# kind: crash
# tries: recursion that goes through C each time: max, key, max, key …
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    def key(x):
        return max([x], key=key)
    print(key(1))
