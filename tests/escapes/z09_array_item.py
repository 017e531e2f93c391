# kind: crash
# tries: an array's item is set by a number that empties it
def solution(agent, start_from=1):
    from array import array
    a = array('d', [1.0] * 400000)
    class S:
        def __index__(self):
            while a: a.pop()
            return 300000
        def __float__(self):
            while a: a.pop()
            return 1.5
    for act in (lambda: a.__setitem__(S(), 1.0), lambda: a.__setitem__(300000, S()), lambda: a.index(S())):
        a = array('d', [1.0] * 400000)
        try:
            print(act())
        except Exception as e:
            print(repr(e))
    def put(i, v):
        a[i] = v
    for i, v in ((S(), 1.0), (300000, S())):
        a = array('d', [1.0] * 400000)
        try:
            print(put(i, v))
        except Exception as e:
            print(repr(e))
