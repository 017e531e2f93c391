# kind: thread
# tries: reach the generator form that a thread's function has, by locals, dicts, defaults and what it yields
# a correct runtime must: show no such name, and give its waits to nobody
import threading, queue
def solution(agent, start_from=1):
    seen = []
    def grab():
        seen.extend(locals())
        seen.extend(dir())
    q = queue.Queue()
    def worker(q, x=grab()):
        return q.get()
    class C:
        def take(self):
            return q.get()
        names = list(locals())
    seen += [*C.names, *vars(C), *dir(C), *dir(worker)]
    t = threading.Thread(target=worker, args=(q,), daemon=True)
    t.start()
    for owner in (t, q, q.get, worker, C.take, threading.Thread.start, threading.Timer.run):
        for name in ('gi_frame', '__globals__', '__code__', '__closure__', '__func__', '__self__', 'steps', 'forms', '_scheduler'):
            try:
                print('CAN' + 'ARY', name, getattr(owner, name))
            except AttributeError:
                pass
    if any('form' in name.lower() and 'format' not in name for name in seen):
        print('CAN' + 'ARY', seen)
