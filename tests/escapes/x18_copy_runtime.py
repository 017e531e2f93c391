# kind: walk
# tries: copies of the runtime's own objects have attributes that the originals lack
def solution(agent, start_from=1):
    import copy, sys, json
    for value in (agent, json, sys.stdout, print, agent.goto):
        try:
            made = copy.deepcopy(value)
            for name in ("members", "name", "func", "args", "_secret", "print", "_print"):
                if hasattr(made, name) or getattr(made, name, None) is not None:
                    print("CANARY-WALK", name)
        except (AttributeError, TypeError):
            pass
