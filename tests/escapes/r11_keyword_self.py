# kind: agent
# tries: keywords that the host's own calling code might use: self, agent, method, args, kwargs, timeout
def solution(agent, start_from=1):
    for name in ('self', 'agent', 'method', 'args', 'kwargs', 'name', 'timeout', '_act', 'act'):
        try:
            agent.goto('shelf 1', **{name: 'FORGED'})
            print('CANARY-KEYWORD', name)
        except (TypeError, RuntimeError):
            pass
