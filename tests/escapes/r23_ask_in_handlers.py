# kind: ask
# tries: questions in an assertion's message, in a default, in a format, in a finally: after the end has come
def solution(agent, start_from=1):
    try:
        assert False, ' '.join(map(ask_llm, ['late'] * 500))
    finally:
        for _ in range(500):
            ask_llm('later')
