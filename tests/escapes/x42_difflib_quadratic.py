# kind: cpu
# tries: comparisons of long texts
def solution(agent, start_from=1):
    import difflib
    a, b = ["x%d" % (i % 7) for i in range(3000)], ["x%d" % (i % 11) for i in range(3000)]
    print(len(list(difflib.ndiff(a, b))), difflib.SequenceMatcher(None, "ab" * 20000, "ba" * 20000, autojunk=False).ratio())
