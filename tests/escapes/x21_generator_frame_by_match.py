# id: x21_generator_frame_by_match
# kind: frame
# tries: a class pattern reads the frame of a generator
# a correct runtime must: reject at check time, or raise inside the plan, or stop it; nothing of the host may become visible or change
def solution(agent, start_from=1):
    def g(): yield 1
    kind = g().__class__ if False else object
    match g():
        case object(gi_frame=f): print('CANARY-FRAME', f)
