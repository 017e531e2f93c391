# id: u14_kill_group
# kind: signal
# tries: signal its own process group, which its parent is in
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os, signal
    os.killpg(0, signal.SIGTERM)
    print('CANARY-KILL')
