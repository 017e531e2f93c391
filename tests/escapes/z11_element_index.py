# kind: crash
# tries: an element's child is found by a number that empties the element
def solution(agent, start_from=1):
    from xml.etree import ElementTree as T
    def fill():
        e = T.Element('a')
        for i in range(1000):
            T.SubElement(e, 'b')
        return e
    class S:
        def __init__(self, n): self.n = n
        def __index__(self):
            e.clear()
            return self.n
    def put(i, v):
        e[i] = v
    for act in (lambda: e[S(500)], lambda: put(S(500), T.Element('c')), lambda: e[S(0):S(500)], lambda: put(slice(S(0), S(500)), [T.Element('d')]), lambda: e.insert(S(3), T.Element('x'))):
        e = fill()
        try:
            print(act())
        except Exception as x:
            print(repr(x))
    class Q(str):
        def __eq__(self, o):
            e.clear()
            return False
        def __hash__(self): return 1
    for act in (lambda: e.find(Q('c')), lambda: e.findtext(Q('c')), lambda: e.findall(Q('c')), lambda: list(e.iter(Q('c'))), lambda: e.remove(T.Element('z'))):
        e = fill()
        try:
            print(act())
        except Exception as x:
            print(repr(x))
