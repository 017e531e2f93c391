# kind: process
# tries: fork for ever, whatever it answers
# layer: cage
def solution(agent, start_from=1):
    import os
    while True:
        try:
            os.fork()
        except OSError:
            pass
