# kind: swallow
# tries: os._exit without a word, with a status that says success
# layer: cage
def solution(agent, start_from=1):
    import os
    os._exit(0)
