# id: u10_fork_bomb
# kind: process
# tries: fork for ever, whatever it answers
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os
    while True:
        try:
            os.fork()
        except OSError:
            pass
