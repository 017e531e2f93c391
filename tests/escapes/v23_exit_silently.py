# id: v23_exit_silently
# kind: swallow
# tries: os._exit without a word, with a status that says success
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os
    os._exit(0)
