# kind: class
# tries: annotations of functions run code, or read what a text names
# a correct runtime must: run them as the plan's own code and resolve names alone
def solution(agent, start_from=1):
    import typing
    hidden = []
    class K:
        def __class_getitem__(cls, item):
            hidden.append(item)
            return cls
    def f(a: K[hidden.append('ran')], b: 'agent.goto("CANARY")' = 1, c: 'print' = 2) -> '().__class__.__base__':
        return 1
    for text in ('agent', 'agent.goto("CANARY")', 'agent.host_secret', '().__class__', 'print.__globals__', 'json.dumps.__globals__', '__builtins__', '_getattr_', '__import__("os")', '[x for x in ()]', 'lambda: agent', 'typing.sys', 'typing.__dict__', 'collections.abc.__loader__', 'int | agent', 'K[agent]', '(' * 900, 'a' * 5000, '_modules_', 'start_from', 'ask_llm', 'solution', '-' * 999 + '1'):
        def g(x): return x
        g.__annotations__['x'] = text
        try:
            got = typing.get_type_hints(g)
            if got['x'] not in (K,):
                print('CAN' + 'ARY', text, got)
        except Exception as e:
            print(type(e).__name__)
    for obj in (agent.goto, print, json.dumps, re.compile, len, typing.get_type_hints, object, dict, type, json):
        for read in (lambda: obj.__annotations__, lambda: typing.get_type_hints(obj), lambda: obj.__annotations__.update(x=1)):
            try:
                print('CAN' + 'ARY', obj, read())
            except (AttributeError, TypeError):
                pass
