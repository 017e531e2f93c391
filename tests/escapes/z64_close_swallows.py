# kind: swallow
# tries: a generator over the mixin hides what its close or throw raises
def solution(agent, start_from=1):
    from collections.abc import Generator
    class G(Generator):
        def send(self, v): return 1
        def throw(self, *a):
            assert False, 'hidden'
    g = G()
    try:
        g.close()
    except RuntimeError as e:
        print('caught', repr(e))
    print('CAN' + 'ARY went on')
