# kind: crash
# tries: json.dumps asks `default`, which wraps its argument anew for ever
def solution(agent, start_from=1):
    import json
    print(json.dumps(1j, default=lambda o: [complex(o.real + 1, 0)]))
