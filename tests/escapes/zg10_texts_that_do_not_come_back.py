# kind: ckpt
# tries: a Decimal written with a small e, a path or a member of an Enum with half of a surrogate pair: the host takes the checkpoint for a broken protocol, or the worker dies over it
# a correct runtime must: save the value, or drop it by name, and end as any other run
def solution(agent, start_from=1):
    import decimal
    import enum
    import pathlib

    Odd = enum.Enum('Odd', ['a\udc80', 'b'])
    if start_from <= 1:
        print('[Step 1] I keep odd values; each alone is enough')
        decimal.getcontext().capitals = 0
        number = decimal.Decimal('1E+50')
        path = pathlib.PurePosixPath('a\udc80')
        member = list(Odd)[0]
        assert start_from, 'Error in [Step 1]: never'
    if start_from <= 2:
        print('[Step 2] I read them')
        assert str(number) and path and member, 'Error in [Step 2]: none'
