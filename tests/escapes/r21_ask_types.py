# id: r21_ask_types
# kind: ask
# tries: questions that are no text: the agent, bytes, a dict, a subclass, surrogates
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    for question in (agent, b'x', {'q': 1}, ['x'], 5, None, '\ud800', '\0'):
        try:
            ask(question)
        except (TypeError, RuntimeError, ValueError):
            pass
    ask(question='x')
