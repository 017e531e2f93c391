# id: m35_string_slices
# kind: mem
# tries: slices copy: a list of all tails of a long text
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    s = 'x' * 10**6
    tails = [s[i:] for i in range(10**5)]
    print(len(tails))
