# id: s22_ckpt_many_dropped
# kind: ckpt
# tries: thousands of variables that cannot be saved: the reasons are written into each checkpoint, and count against no limit
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    f = ask
# repeat for k from 0 to 3499
    a<k>=f
# end
# repeat for k from 1 to 60
    if start_from <= <k>:
        assert f
# end
