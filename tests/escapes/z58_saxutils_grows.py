# kind: mem
# tries: escape with many entities doubles a text each time
def solution(agent, start_from=1):
    from xml.sax.saxutils import escape
    class En:
        def items(self): return [('a', 'aaaaaaaaaa')] * 12
    print(len(escape('a', En())))
    print('CAN' + 'ARY went on') if False else None
