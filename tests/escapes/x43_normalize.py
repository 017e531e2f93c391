# id: x43_normalize
# kind: cpu
# tries: a long row of combining marks to be put in order
# a correct runtime must: stop at the budget, report a limit error, keep the host alive and within its memory
def solution(agent, start_from=1):
    import unicodedata
    print(len(unicodedata.normalize("NFC", "a" + "\u0301\u0327" * 10**6)))
