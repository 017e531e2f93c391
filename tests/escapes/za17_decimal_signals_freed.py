# kind: crash
# tries: free a decimal context while its signals are set
# a correct runtime must: go on, or raise Python's error
def solution(agent, start_from=1):
    import operator
    from decimal import Context, Decimal, Inexact, Rounded, getcontext, setcontext, localcontext
    held = [Context()]
    class Truth:
        def __bool__(self):
            held.clear()
            junk = [Context() for _ in range(100)]
            return True
    class Key:
        def __eq__(self, other):
            held.clear()
            return True
        def __hash__(self):
            held.clear()
            return 1
    flags, traps = held[0].flags, held[0].traps
    for change in (lambda: operator.setitem(flags, Inexact, Truth()), lambda: operator.setitem(traps, Rounded, Truth()), lambda: operator.setitem(traps, Key(), 1), lambda: flags[Inexact], lambda: operator.delitem(flags, Inexact), lambda: list(flags), lambda: repr(traps), lambda: flags == traps, lambda: operator.ior(flags, {Inexact: True})):
        held[:] = [Context()]
        flags, traps = held[0].flags, held[0].traps
        try:
            change()
        except (TypeError, ValueError, KeyError, AttributeError) as e:
            print(type(e).__name__, e)
    held[:] = [Context()]
    flags = held[0].flags
    try:
        flags[Inexact] = Truth()
        flags[Inexact] |= Truth()
    except (TypeError, ValueError) as e:
        print(e)
    getcontext().traps[Inexact] = True
    for name in ('update', '__reduce__', '_signals', 'setdefault', 'pop'):
        try:
            print('CAN' + 'ARY', getattr(flags, name))
        except (AttributeError, TypeError):
            pass
    held.clear()
    if type(flags.copy()) is not dict:
        print('CAN' + 'ARY', flags.copy())
