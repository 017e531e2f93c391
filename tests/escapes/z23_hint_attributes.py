# kind: walk
# tries: a text annotation reads members and items of what it names
def solution(agent, start_from=1):
    import typing, json

    def f(a: 'x'):
        return a

    class Tr:

        def __getitem__(self, k):
            return k

        def __or__(self, o):
            return o
    tr = Tr()
    for text in ('json.dumps.__globals__', 'json.decoder', 'typing.sys', 'json.__dict__', 'tr[json.dumps]', 'tr | json', 'typing.get_type_hints', '().__class__', 'tr[tr]', 'json.loads.x', 'asyncio.tasks', "tr['a']", '[json][0]', 'tr.x', 'list[print]', '*tr', 'tr[1:2]', 'lambda: 1', 'tr()', "f'{tr}'", '(x := 5)', 'a if tr else b'):
        f.__annotations__['a'] = text
        try:
            print(text, typing.get_type_hints(f, {'tr': tr}))
        except Exception as e:
            print(text, repr(e)[:70])
