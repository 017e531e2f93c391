# kind: agent
# tries: functions, the proxy, a façade, an exception and a generator as arguments
def solution(agent, start_from=1):
    import json
    for value in (lambda: 0, agent, json, print, ask, (x for x in [1]), ValueError('x'), range(3), {1}, 1j, b'x', slice(1)):
        try:
            agent.goto(value)
        except (TypeError, RuntimeError):
            continue
    print('ok')
