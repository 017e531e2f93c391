# kind: mem
# tries: json.dumps with indent of a shared structure: a few lists, a billion lines
def solution(agent, start_from=1):
    import json
    a = [1]
    for _ in range(40):
        a = [a, a]
    print(len(json.dumps(a, indent=16)))
