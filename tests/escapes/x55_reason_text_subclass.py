# kind: exc
# tries: the reason of replan is a text of the plan's own class
def solution(agent, start_from=1):
    class S(str):
        def __len__(self): return 1
    replan(S('CANARY' * 10 ** 6))
