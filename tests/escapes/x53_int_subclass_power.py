# kind: cpu
# tries: numbers of the plan's own class lie about their bits in the guard of powers
def solution(agent, start_from=1):
    class I(int):
        def bit_length(self): return 1
        def __int__(self): return 1
        def __index__(self): return 1
        def __gt__(self, o): return False
        def __lt__(self, o): return False
    print('CANARY-SIZE' if len(str(I(10) ** I(10 ** 7))) > 100 else 'lied')
