# kind: flood
# tries: Python's own messages quote their input: int(), KeyError, json, getattr
def solution(agent, start_from=1):
    import json
    big = 'CAN' * 10**6
    for work in (lambda: int(big), lambda: {}[big], lambda: json.loads(big), lambda: getattr(agent, big), lambda: float(big)):
        try:
            work()
        except Exception as e:
            text = str(e)
    getattr(agent, big)
