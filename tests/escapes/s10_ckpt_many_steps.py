# id: s10_ckpt_many_steps
# kind: ckpt
# tries: a thousand steps, each with a checkpoint of its own
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    big = ['x' * 100 + str(i) for i in range(2000)]
# repeat for k from 1 to 1000
    if start_from <= <k>:
        assert big
# end
