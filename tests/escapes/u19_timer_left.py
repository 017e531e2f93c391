# kind: signal
# tries: leave a timer behind: alarm, setitimer, timer_create
# layer: cage
def solution(agent, start_from=1):
    import signal
    signal.alarm(60)
    print('CANARY-TIMER')
