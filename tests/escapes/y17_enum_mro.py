# kind: class
# tries: mro() gives Python's own Enum, which makes classes of any names
# a correct runtime must: give the Enum of plans
def solution(agent, start_from=1):
    from enum import Enum, Flag
    class E(Enum):
        A = 1
    class F(Flag):
        A = 1
    def late(*a):
        print('CAN' + 'ARY called', a)
    for kind in [*E.mro(), *F.mro(), *E.__mro__, *E.__bases__]:
        for names in ({'__del__': late}, [('__del__', late)], {'__reduce_ex__': late}, '_generate_next_value_', {'__getattr__': late, 'gi_frame': 1}):
            try:
                made = kind('Made', names)
                print('CAN' + 'ARY', made)
            except (AttributeError, TypeError, ValueError, KeyError):
                pass
