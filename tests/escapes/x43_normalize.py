# kind: cpu
# tries: a long row of combining marks to be put in order
def solution(agent, start_from=1):
    import unicodedata
    print(len(unicodedata.normalize("NFC", "a" + "\u0301\u0327" * 10**6)))
