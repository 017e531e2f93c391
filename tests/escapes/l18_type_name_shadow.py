# kind: names
# tries: `type(x).__name__` is a known idiom; here `type` is something else by then
def solution(agent, start_from=1):
    def probe(type):
        return type(agent).__name__
    for found in (probe(lambda a: a.goto), probe(lambda a: ask)):
        if not isinstance(found, str) or found == 'ask_llm': print('CANARY-BIND', found)
