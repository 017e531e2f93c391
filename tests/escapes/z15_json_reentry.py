# kind: crash
# tries: what json encodes empties itself
def solution(agent, start_from=1):
    import json
    class K(str): pass
    d = {}
    class I(int):
        def __repr__(self):
            d.clear()
            x.clear()
            return '1'
    x = [I(5), 'a' * 100, 'b' * 100] * 100
    d = {'a': x, 'b': 2}
    def default(o):
        d.clear()
        x.clear()
        return 1
    for act in (lambda: json.dumps(d), lambda: json.dumps({'a': x, 'z': object()}, default=default), lambda: json.dumps([object()] + x, default=default)):
        try:
            print(act()[:60])
        except Exception as e:
            print(repr(e))
