# kind: getattr
# tries: __match_args__ holds names that a plan may not read, also as texts of its own class
def solution(agent, start_from=1):
    class N(str):
        def __eq__(self, o): return True
        def __hash__(self): return hash('x') if False else 2
    def gen(): yield 1
    class G:
        __match_args__ = ('gi_frame',)
    for names in (('__globals__',), ('__class__',), (N('__dict__'),), ('gi_frame',), ('_secret',), ['x']):
        class M:
            __match_args__ = names
            gi = 1
        try:
            match M():
                case M(x): print('CANARY-MATCH', x)
        except Exception as e:
            print(type(e).__name__)
