# id: x92_import_star_in_class
# kind: names
# tries: imports in a class and in functions bind names of the runtime
# a correct runtime must: reject at check time, or raise inside the plan, or stop it; nothing of the host may become visible or change
def solution(agent, start_from=1):
    class A:
        from math import pi as _getattr_
        import json as __del__
