# kind: builtins
# tries: leave a message in sys.argv for the next plan, and learn of the machine by sys
# a correct runtime must: give the next plan fresh arguments
def solution(agent, start_from=1):
    import sys, os, json
    print(sys.argv)
    sys.argv.extend([agent, 'a' * 1000])
    sys.argv[0] = print
    for value in (agent, json, print, sys.stdout, (i for i in [1]), type, object(), sys.argv):
        if not 0 <= sys.getsizeof(value) < 10**6:
            print('CAN' + 'ARY')
    class A:
        def __getattribute__(self, name):
            agent.goto('CANARY')
    sys.getsizeof(A())
    for module, name in ((sys, 'path'), (sys, 'modules'), (sys, 'flags'), (sys, '_getframe'), (sys, 'executable'), (os, 'environ'), (os, 'getenv'), (os, 'getpid'), (os, 'uname'), (os, 'getcwd')):
        try:
            print('CAN' + 'ARY', getattr(module, name))
        except AttributeError:
            pass
    try:
        sys.argv = []
        print('CAN' + 'ARY written')
    except AttributeError:
        pass
