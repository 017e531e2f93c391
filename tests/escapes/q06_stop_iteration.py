# id: q06_stop_iteration
# kind: swallow
# tries: StopIteration raised by hand inside map and a comprehension ends loops quietly; the assertion after must still fail
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    def stop(x):
        raise StopIteration
    assert list(map(stop, [1, 2])) == [1], 'Error in [Step 1]: the truth'
    print('CANARY-SWALLOW')
