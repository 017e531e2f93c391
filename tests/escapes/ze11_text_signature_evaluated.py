# kind: names
# tries: dataclass makes the missing docstring of a class from its signature: Python evaluates the names in the first line of a base's docstring
# a correct runtime must: evaluate nothing of a plan's texts, so show no value of the runtime's modules
def solution(agent, start_from=1):
    import dataclasses

    class Base:
        """Base(a=codeplan.sandbox.runtime.classes.CLASS_MARK, b=sys.flags.hash_randomization)
--

"""

    class K(Base):
        pass

    K.__doc__ = ''
    try:
        dataclasses.dataclass(init=False)(K)
        print('CAN' + 'ARY' if '_class__' in K.__doc__ else 'fine', K.__doc__)
    except (AttributeError, TypeError, ValueError) as e:
        print(type(e).__name__, e)
