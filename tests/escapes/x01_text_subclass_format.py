# kind: format
# tries: str.format of a text of the plan's own class, bound, by the class and by super, walks attributes
def solution(agent, start_from=1):
    class T(str):
        def up(self, x): return super().format(x)
    def f(): pass
    for way in (T('{0.__globals__}').format, lambda x: T.format(T('{0.__globals__}'), x), T('{0.__globals__}').up):
        try:
            print('CANARY-WALK', way(f))
        except Exception as e:
            print(type(e).__name__)
