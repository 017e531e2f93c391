# kind: crash
# tries: states for the random generator that Python never made
def solution(agent, start_from=1):
    import random
    for state in ((3, (1,) * 625, None), (3, tuple([0] * 624 + [10**9]), None), (3, (-1,) * 625, None), (2, ("a",) * 625, None), (3, (2**70,) * 625, 5)):
        try:
            random.setstate(state)
            random.random()
            random.gauss(0, 1)
        except (ValueError, TypeError, OverflowError):
            pass
