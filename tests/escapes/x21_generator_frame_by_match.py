# kind: frame
# tries: a class pattern reads the frame of a generator
def solution(agent, start_from=1):
    def g(): yield 1
    kind = g().__class__ if False else object
    match g():
        case object(gi_frame=f): print('CANARY-FRAME', f)
