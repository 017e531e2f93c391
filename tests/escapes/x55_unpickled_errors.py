# kind: exc
# tries: attributes of errors that lead to objects and frames
def solution(agent, start_from=1):
    import json, re
    for make in (lambda: agent.missing, lambda: json.loads("x"), lambda: re.compile("("), lambda: "x".encode("nope"), lambda: b"\xff".decode("ascii"), lambda: [].x, lambda: agent.goto(1, 2, 3, 4)):
        try:
            make()
        except Exception as e:
            for name in ("obj", "tb_frame", "tb_next", "characters_written"):
                if hasattr(e, name): print("CANARY-WALK", name)
