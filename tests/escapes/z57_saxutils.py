# kind: class
# tries: escape with entities and data of the plan's own kinds
def solution(agent, start_from=1):
    from xml.sax.saxutils import escape, unescape, quoteattr

    class D:

        def replace(self, *a):
            return print

    class En:

        def items(self):
            return [('', 'x' * 100)] * 5

        def keys(self):
            return ['a']

        def __getitem__(self, k):
            return 'b'
    for act in (lambda: escape(D()), lambda: escape('a' * 100, En()), lambda: quoteattr('a', En()), lambda: quoteattr(D()), lambda: getattr(escape, '__defaults__'), lambda: getattr(escape, '__kwdefaults__'), lambda: unescape('&amp;', {'a': agent})):
        try:
            print(repr(act())[:100])
        except Exception as e:
            print(repr(e)[:100])
