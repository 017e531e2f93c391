# kind: agent
# tries: print and json.dump write into whatever has a method of that name
def solution(agent, start_from=1):
    import json, pprint
    for write in (lambda: print("CANARY", file=agent), lambda: json.dump("CANARY", agent), lambda: pprint.pprint("CANARY", agent), lambda: print("CANARY", file=5)):
        try:
            write()
        except (AttributeError, TypeError):
            pass
    print("done" * 0)
