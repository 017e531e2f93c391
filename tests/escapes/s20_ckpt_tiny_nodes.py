# id: s20_ckpt_tiny_nodes
# kind: ckpt
# tries: forty steps, each with a checkpoint of as many tiny values as are saved: small on the way, large in the host
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    big = [[] for _ in range(12000)]
    if start_from <= 1:
        assert big
    if start_from <= 2:
        assert big
    if start_from <= 3:
        assert big
    if start_from <= 4:
        assert big
    if start_from <= 5:
        assert big
    if start_from <= 6:
        assert big
    if start_from <= 7:
        assert big
    if start_from <= 8:
        assert big
    if start_from <= 9:
        assert big
    if start_from <= 10:
        assert big
    if start_from <= 11:
        assert big
    if start_from <= 12:
        assert big
    if start_from <= 13:
        assert big
    if start_from <= 14:
        assert big
    if start_from <= 15:
        assert big
    if start_from <= 16:
        assert big
    if start_from <= 17:
        assert big
    if start_from <= 18:
        assert big
    if start_from <= 19:
        assert big
    if start_from <= 20:
        assert big
    if start_from <= 21:
        assert big
    if start_from <= 22:
        assert big
    if start_from <= 23:
        assert big
    if start_from <= 24:
        assert big
    if start_from <= 25:
        assert big
    if start_from <= 26:
        assert big
    if start_from <= 27:
        assert big
    if start_from <= 28:
        assert big
    if start_from <= 29:
        assert big
    if start_from <= 30:
        assert big
    if start_from <= 31:
        assert big
    if start_from <= 32:
        assert big
    if start_from <= 33:
        assert big
    if start_from <= 34:
        assert big
    if start_from <= 35:
        assert big
    if start_from <= 36:
        assert big
    if start_from <= 37:
        assert big
    if start_from <= 38:
        assert big
    if start_from <= 39:
        assert big
    if start_from <= 40:
        assert big
