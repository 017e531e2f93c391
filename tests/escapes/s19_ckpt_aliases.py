# kind: ckpt
# tries: one long text under many names and in many lists: written once or a thousand times?
def solution(agent, start_from=1):
    s = 'x' * 10**5
    a = [s] * 10000
    b = [a] * 10000
    c = {i: b for i in range(1000)}
    assert False, 'Error in [Step 1]: stop'
