# kind: crash
# tries: json.loads of a hundred thousand brackets, dumps of a deep list and of a list within itself
def solution(agent, start_from=1):
    import json
    a = []
    a.append(a)
    for work in (lambda: json.loads('[' * 10**5), lambda: json.dumps(a), lambda: json.loads('{"a":' * 10**5)):
        try:
            work()
        except Exception:
            pass
    json.dumps(a, default=lambda o: [o])
