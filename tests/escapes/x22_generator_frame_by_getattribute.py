# kind: frame
# tries: object.__getattribute__ and super read the frame of a generator
def solution(agent, start_from=1):
    def g(): yield 1
    class A: pass
    for work in (lambda: object.__getattribute__(g(), 'gi_frame'), lambda: getattr(super(A, g()), 'gi_frame'), lambda: A.__getattribute__(g(), 'gi_frame'), lambda: getattr(g(), 'gi_' + 'code')):
        try:
            print('CANARY-FRAME', work())
        except Exception as e:
            print(type(e).__name__)
