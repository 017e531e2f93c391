# kind: thread
# tries: threads that start threads, and threads that wake one another for ever
# a correct runtime must: stop at a limit
import threading, queue
def solution(agent, start_from=1):
    a, b = queue.Queue(), queue.Queue()
    def pass_on(source, target):
        while True:
            target.put(source.get())
    def breed():
        threading.Thread(target=breed).start()
        a.get()
    threading.Thread(target=pass_on, args=(a, b)).start()
    threading.Thread(target=pass_on, args=(b, a)).start()
    a.put(1)
    breed()
