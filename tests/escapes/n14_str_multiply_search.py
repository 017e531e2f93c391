# id: n14_str_multiply_search
# kind: cpu
# tries: substring search with a needle nearly as long as the text, again and again in C
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    s, needle = 'a' * 10**6 + 'b', 'a' * 5 * 10**5 + 'c'
    list(map(s.count, [needle] * 10**6))
