# id: u19_timer_left
# kind: signal
# tries: leave a timer behind: alarm, setitimer, timer_create
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import signal
    signal.alarm(60)
    print('CANARY-TIMER')
