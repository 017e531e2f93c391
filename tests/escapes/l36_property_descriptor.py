# id: l36_property_descriptor
# kind: builtins
# tries: property, classmethod and staticmethod make descriptors out of functions
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    p = property(lambda self: 'FORGED')
    print('CANARY-WALK', p.fget.__globals__, classmethod(print).__func__)
