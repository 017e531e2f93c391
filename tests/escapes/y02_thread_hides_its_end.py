# kind: thread
# tries: hide a failed assertion in a thread: by a context manager, a handler, a pool's future and a callback
# a correct runtime must: end the plan with the assertion, wherever it fails
import threading, time
from concurrent.futures import ThreadPoolExecutor
class Hide:
    def __enter__(self):
        return self
    def __exit__(self, *error):
        return True
def solution(agent, start_from=1):
    def fail():
        with Hide():
            try:
                time.sleep(0.001)
                assert False, 'over'
            except Exception:
                pass
            except BaseException:
                pass
    with Hide():
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()
    print('CAN' + 'ARY went on after a thread')
    with Hide(), ThreadPoolExecutor(1) as pool:
        future = pool.submit(fail)
        future.add_done_callback(print)
        future.exception()
    print('CAN' + 'ARY went on after a pool')
