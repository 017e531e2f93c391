# kind: cpu
# tries: concurrent.futures.wait for a future that nobody sets, and for an endless iterable
def solution(agent, start_from=1):
    import itertools
    from concurrent.futures import wait, Future
    try:
        print(wait([Future()], timeout=1))
    except Exception as e:
        print(repr(e))
    try:
        print(wait([Future()]))
    except Exception as e:
        print(repr(e))
    print(wait(iter(lambda: Future(), 1)))
    print('CAN' + 'ARY went on')
