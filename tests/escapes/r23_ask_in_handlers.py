# id: r23_ask_in_handlers
# kind: ask
# tries: questions in an assertion's message, in a default, in a format, in a finally: after the end has come
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    try:
        assert False, ' '.join(map(ask_llm, ['late'] * 500))
    finally:
        for _ in range(500):
            ask_llm('later')
