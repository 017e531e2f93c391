# kind: thread
# tries: threads that stand still act after the plan has ended, when their frames are closed
# a correct runtime must: end them with the run; no handler and no finally of them runs later
import threading, queue, time
kept = []
def solution(agent, start_from=1):
    box = queue.Queue()
    def wait():
        try:
            box.get()
        finally:
            print('CAN' + 'ARY ran at the end')
    def tick():
        while True:
            try:
                time.sleep(3600)
            except BaseException:
                print('CAN' + 'ARY ran at the end')
    for target in (wait, tick) * 5:
        thread = threading.Thread(target=target, daemon=True)
        thread.start()
        kept.append(thread)
    me = threading.Timer(3600, print, args=['CAN' + 'ARY'])
    me.daemon = True
    me.start()
    return 1
