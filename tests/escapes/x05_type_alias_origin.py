# kind: dunder
# tries: typing.get_origin(typing.Type[int]) is the real type
def solution(agent, start_from=1):
    import typing
    real = typing.get_origin(typing.Type[int])
    made = real('X', (), {'__del__': lambda self: 0, '__reduce__': print})
    print('CANARY-WALK', made.__name__)
