# kind: names
# tries: names that every module has: __builtins__, __spec__, __loader__, __build_class__, __annotations__, __file__
def solution(agent, start_from=1):
    print('CANARY-WALK', __builtins__, __name__)
    print(__spec__, __loader__, __build_class__, __file__, __annotations__, __debug__)
