# kind: swallow
# tries: the text of an assertion's message exits, so that the assertion is caught as another thing or ends as success
# a correct runtime must: end the plan with the assertion
def solution(agent, start_from=1):
    class Exits:
        def __str__(self):
            raise SystemExit
    class Closes:
        def __str__(self):
            raise GeneratorExit
    for message in (Exits(), Closes()):
        try:
            assert False, message
        except (SystemExit, GeneratorExit):
            agent.goto('CANARY')
    assert False, Exits()
