# kind: class
# tries: from Python 3.12 on, Enum(name, type=X) makes a class of any X without names, from which the plan derives its own
# a correct runtime must: check the type, also without names
def solution(agent, start_from=1):
    import enum
    from concurrent import futures

    def derived(base):
        K = enum.Enum('K', type=base)

        class Z(K):
            pass

        return Z

    for base in (futures.Future, super, property):
        try:
            Z = derived(base)
            print('CAN' + 'ARY' if issubclass(Z, base) else 'fine', Z)
        except (AttributeError, TypeError, ValueError) as e:
            print(type(e).__name__, e)
