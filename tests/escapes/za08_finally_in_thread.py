# kind: tasks
# tries: the second form of a thread's function loses an end in finally
def solution(agent, start_from=1):
    import threading, queue
    q = queue.Queue()
    def work():
        for i in range(3):
            try:
                q.get(timeout=0.01)
                assert False, 'the end'
            except queue.Empty:
                assert False, 'the end'
            finally:
                continue
        agent.goto('CANARY')
    t = threading.Thread(target=work)
    t.start()
    q.put(1)
    t.join()
    agent.goto('CANARY')
