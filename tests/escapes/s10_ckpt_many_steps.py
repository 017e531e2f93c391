# kind: ckpt
# tries: a thousand steps, each with a checkpoint of its own
def solution(agent, start_from=1):
    big = ['x' * 100 + str(i) for i in range(2000)]
# repeat for k from 1 to 1000
    if start_from <= <k>:
        assert big
# end
