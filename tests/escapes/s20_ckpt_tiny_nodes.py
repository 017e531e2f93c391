# id: s20_ckpt_tiny_nodes
# kind: ckpt
# tries: forty steps, each with a checkpoint of as many tiny values as are saved: small on the way, large in the host
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    big = [[] for _ in range(12000)]
# repeat for k from 1 to 40
    if start_from <= <k>:
        assert big
# end
