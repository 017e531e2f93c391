# kind: frame
# tries: gi_frame of a generator expression, no yield needed
def solution(agent, start_from=1):
    g = (x for x in [1])
    print('CANARY-WALK', g.gi_frame.f_back.f_globals)
