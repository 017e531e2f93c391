# id: m31_split_pieces
# kind: mem
# tries: a short text in many pieces: each character an object of fifty bytes
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    parts = [list('é' * 10**7) for _ in range(1000)]
    print(len(('a ' * 10**7).split()), len(parts))
