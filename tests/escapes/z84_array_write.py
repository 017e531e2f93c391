# kind: crash
# tries: a number that shortens the array is written past its end
def solution(agent, start_from=1):
    from array import array
    class S:
        def __float__(self):
            del a[5:]
            return 1.5
        def __index__(self):
            del a[5:]
            return 7
    for code, n in (('d', 400000), ('q', 400000), ('B', 4000000)):
        a = array(code, [1] * n)
        a[n - 1] = S()
        print(code)
