# id: u43_priority
# kind: kernel
# tries: move itself up: nice, processors, real-time scheduling
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    print('CANARY-PRIORITY')
