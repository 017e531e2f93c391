# kind: names
# tries: make_dataclass marks its class as the plan's only at the end; __init_subclass__ of a base gets it before, and has Python evaluate its docstring as a signature
# a correct runtime must: evaluate nothing of a plan's texts, so show no value of the runtime's modules and no address
def solution(agent, start_from=1):
    import dataclasses

    class Base:
        def __init_subclass__(cls, **named):
            class Shown:
                __init__ = cls
            try:
                dataclasses.dataclass(init=False)(Shown)
                print('CAN' + 'ARY' if 'b=' in Shown.__doc__ else 'fine', Shown.__doc__)
            except (AttributeError, TypeError, ValueError) as e:
                print('fine', type(e).__name__, e)

    text = 'Made(a, b=codeplan.sandbox.runtime.classes.CLASS_MARK, c=ctypes.pythonapi._handle)\n--\n\n'
    dataclasses.make_dataclass('Made', [], bases=(Base,), namespace={'__doc__': text})
