# kind: ckpt
# tries: forty steps, each with a checkpoint of as many tiny values as are saved: small on the way, large in the host
def solution(agent, start_from=1):
    big = [[] for _ in range(12000)]
# repeat for k from 1 to 40
    if start_from <= <k>:
        assert big
# end
