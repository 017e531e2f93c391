# kind: names
# tries: imports in a class and in functions bind names of the runtime
def solution(agent, start_from=1):
    class A:
        from math import pi as _getattr_
        import json as __del__
