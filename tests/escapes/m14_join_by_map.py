# id: m14_join_by_map
# kind: mem
# tries: join over a lazily repeated long text
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    long = 'x' * 10**6
    print(len(''.join(map(lambda i: long, range(10**6)))))
