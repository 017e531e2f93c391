"""Programs whose threads wait for one another print in a plan what they print in Python."""

from __future__ import annotations

import contextlib
import io
import textwrap

import pytest
from support.caged import SampleHome, answer

from codeplan.sandbox import Limits, Sandbox
from codeplan.types import Failed, Finished

IMPORTS = "import queue, threading, time\nfrom concurrent.futures import Future, ThreadPoolExecutor, as_completed\n"

PROGRAMS = {
    "futures of the plan": """
        from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
        import time
        f, g, h = Future(), Future(), Future()
        began = time.monotonic()
        print(wait([f], timeout=0.01).not_done == {f}, wait([f], timeout=0).done, time.monotonic() - began >= 0.01)
        for use in (lambda: f.result(timeout=0.01), lambda: f.exception(timeout=0), lambda: list(as_completed([f], timeout=0))):
            try:
                use()
            except TimeoutError as error:
                print(type(error).__name__)
        print(f.running(), f.set_running_or_notify_cancel(), f.running(), f.cancel(), f.cancelled())
        f.set_result(3)
        print(f.result(0), f.done(), f.running(), f.cancel(), wait([f, g], timeout=0.01).done == {f})
        print(g.running(), g.cancel(), g.cancel(), g.cancelled(), g.done(), g.set_running_or_notify_cancel())
        with ThreadPoolExecutor() as pool:
            k = pool.submit(pow, 2, 3)
            print(k.result(), k.running(), k.cancel())
    """,
    "a consumer that is started before its producer": """
        jobs, results = queue.Queue(maxsize=1), []
        def consume():
            count = 0
            while (job := jobs.get()) is not None:
                results.append(job * 2)
                count += 1
                jobs.task_done()
            results.append(f'{count} jobs')
        def produce():
            for n in range(3):
                jobs.put(n)
            jobs.join()
            jobs.put(None)
        threads = [threading.Thread(target=consume), threading.Thread(target=produce)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(results, [thread.is_alive() for thread in threads])
    """,
    "workers that the plan ends after their queue": """
        jobs, results = queue.Queue(), []
        def work():
            for job in iter(jobs.get, None):
                if job == 2:
                    jobs.task_done()
                    continue
                results.append(job)
                jobs.task_done()
        workers = [threading.Thread(target=work) for _ in range(2)]
        for worker in workers:
            worker.start()
        for n in range(4):
            jobs.put(n)
        jobs.join()
        print(sorted(results))
        for _ in workers:
            jobs.put(None)
        for worker in workers:
            worker.join()
    """,
    "copies of what threads hold": """
        import copy
        def told(name, made):
            for copied in (copy.copy, copy.deepcopy):
                try:
                    copied(made)
                    print(name, copied.__name__)
                except TypeError as error:
                    print(name, copied.__name__, error)
        told('lock', threading.Lock())
        told('rlock', threading.RLock())
        told('condition', threading.Condition())
        told('event', threading.Event())
        told('queue', queue.Queue())
        told('simple queue', queue.SimpleQueue())
        told('barrier', threading.Barrier(2))
        told('thread', threading.Thread())
        told('local', threading.local())
    """,
    "an actor that replies": """
        class Actor:
            def __init__(self):
                self.box, self.total = queue.SimpleQueue(), 0
                threading.Thread(target=self.loop, daemon=True).start()
            def take(self):
                return self.box.get()
            def loop(self):
                while True:
                    number, reply = self.take()
                    self.total += number
                    reply.put(self.total)
            def ask(self, number):
                reply = queue.Queue(1)
                self.box.put((number, reply))
                return reply.get(timeout=5)
        actor = Actor()
        print([actor.ask(n) for n in (1, 2, 3)])
    """,
    "a lock that is held over a sleep": """
        lock, again, count, seen = threading.Lock(), threading.RLock(), 0, []
        def add():
            global count
            with lock, again:
                before = count
                time.sleep(0.001)
                with again:
                    count = before + 1
            seen.append(threading.current_thread().name)
        threads = [threading.Thread(target=add, name=f't{n}') for n in range(3)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        print(count, sorted(seen), lock.locked())
    """,
    "a condition, a barrier, a semaphore and an event": """
        condition, items, log = threading.Condition(), [], []
        def take():
            with condition:
                condition.wait_for(lambda: items)
                log.append(items.pop(0))
        def give():
            for n in range(2):
                with condition:
                    items.append(n)
                    condition.notify()
                time.sleep(0.001)
        barrier = threading.Barrier(2, action=lambda: log.append('all'))
        def meet(n):
            barrier.wait()
            log.append('met')
        slots, pairs, most = threading.Semaphore(2), threading.Barrier(2), [0, 0]
        def crowd():
            with slots:
                most[0] += 1
                most[1] = max(most)
                pairs.wait()
                most[0] -= 1
        stop = threading.Event()
        def tick():
            while not stop.wait(0.001):
                pass
            log.append('stopped')
        for group in ([take, take, give], [crowd] * 4, [tick]):
            threads = [threading.Thread(target=each) for each in group]
            [thread.start() for thread in threads]
            stop.set()
            [thread.join() for thread in threads]
        pair = [threading.Thread(target=meet, args=(n,)) for n in range(2)]
        [thread.start() for thread in pair]
        [thread.join() for thread in pair]
        print(log, most)
        try:
            condition.notify()
        except RuntimeError as error:
            print(error)
        lonely = threading.Barrier(2)
        try:
            lonely.wait(timeout=0.001)
        except threading.BrokenBarrierError:
            print('broken', lonely.broken)
    """,
    "timers": """
        fired = []
        first = threading.Timer(0.001, fired.append, args=['first'])
        other = threading.Timer(60, fired.append, args=['other'])
        first.start()
        other.start()
        other.cancel()
        other.join()
        first.join()
        print(fired)
    """,
    "attributes of each thread": """
        class Own(threading.local):
            made = 0
            def __init__(self, start):
                self.value = start
        own, seen = Own(5), []
        def count():
            own.value += 1
            time.sleep(0.001)
            seen.append(own.value)
        threads = [threading.Thread(target=count) for _ in range(2)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        own.value = 9
        print(seen, own.value)
    """,
    "a pool whose functions wait for one another": """
        box = queue.Queue()
        def take(count):
            return take_all(count)
        def take_all(count):
            taken = []
            for _ in range(count):
                taken.append(box.get())
            return taken
        def give(count):
            for n in range(count):
                box.put(n)
                time.sleep(0)
            return 'given'
        both = threading.Barrier(2)
        def fail(values=[]):
            values.append(1)
            both.wait()
            raise ValueError(len(values))
        with ThreadPoolExecutor(2) as pool:
            first, second = pool.submit(take, 3), pool.submit(give, 3)
            print(first.result(), second.result())
            errors = [pool.submit(fail), pool.submit(fail)]
            print(sorted(str(each.exception()) for each in as_completed(errors)))
        promise, told = Future(), []
        promise.add_done_callback(lambda done: told.append(done.result()))
        def keep():
            promise.set_result(7)
        keeper = threading.Thread(target=keep)
        keeper.start()
        print(promise.result(timeout=5))
        keeper.join()
        print(told)
    """,
    "a StopIteration that leaves a thread's function": """
        def ends(*given, **named):
            raise StopIteration(len(given))
        def tells():
            for use in (lambda: ends(), lambda: next(iter(()))):
                try:
                    use()
                except StopIteration as error:
                    print('ended', error.value)
            try:
                ends(1)
            except StopIteration as error:
                print('ended', error.value)
            try:
                ends(*'ab', **{})
            except StopIteration as error:
                print('ended', error.value)
            numbers = iter([1, 2, 3])
            def count():
                return next(numbers)
            for number in iter(count, 9):
                print(number)
            return next(numbers)
        with ThreadPoolExecutor(1) as pool:
            try:
                pool.submit(tells).result()
            except StopIteration as error:
                print('ended', error.value)
        barrier = threading.Barrier(1, action=ends)
        def meet():
            try:
                barrier.wait()
            except StopIteration as error:
                print('ended', error.value, barrier.broken)
        thread = threading.Thread(target=meet)
        thread.start()
        thread.join()
    """,
    "errors of calls in a thread name what was called": """
        def take(a):
            return a
        def wrong():
            def inside(a):
                return a
            for use in (lambda: 0, lambda a: a):
                try:
                    inside(*3)
                except TypeError as error:
                    print(error)
                try:
                    use(**3)
                except TypeError as error:
                    print(error)
                try:
                    take(1, 2)
                except TypeError as error:
                    print(error)
                try:
                    use(1, 2)
                except TypeError as error:
                    print(error)
            class Local:
                pass
            print(inside.__qualname__, Local.__qualname__)
        thread = threading.Thread(target=wrong)
        thread.start()
        thread.join()
    """,
    "errors and defaults of a thread's function": """
        def keep(item, *rest, into=[], **named):
            time.sleep(0)
            into.append((item, rest, named))
            return into
        thread = threading.Thread(target=keep, args=(1, 2), kwargs={'a': 3})
        thread.start()
        thread.join()
        print(keep(4), keep.__name__)
        class Child(threading.Thread):
            def run(self):
                super().run()
                time.sleep(0)
                try:
                    raise KeyError('k')
                except KeyError as error:
                    self.seen = repr(error)
                finally:
                    self.over = True
        child = Child()
        child.start()
        child.join()
        print(child.seen, child.over, child.is_alive())
    """,
}


def plan_of(program: str) -> str:
    return f"{IMPORTS}\ndef solution(agent, start_from=1):\n{textwrap.indent(textwrap.dedent(program), '    ')}"


def in_python(program: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(IMPORTS + textwrap.dedent(program), {"__name__": "__main__"})
    return printed.getvalue()


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_prints_what_python_prints(name):
    outcome = Sandbox(Limits()).run(plan_of(PROGRAMS[name]), SampleHome(lambda action: None), answer)
    assert isinstance(outcome, Finished), outcome
    assert outcome.output.replace("solution.<locals>.", "") == in_python(PROGRAMS[name])


WAITS_FOR_EVER = {
    "queue.Queue().get()": "the queue is empty, and no other thread runs that could change it",
    "q = queue.Queue(1)\nq.put(1)\nq.put(2)": "the queue is full, and no other thread runs that could change it",
    "threading.Event().wait()": "the event is not set, and no other thread runs that could change it",
    "threading.Barrier(2).wait()": "a party is missing, and no other thread runs that could change it",
    "c = threading.Condition()\nwith c:\n    c.wait()": (
        "the condition is not notified, and no other thread runs that could change it"
    ),
}


@pytest.mark.parametrize("program", WAITS_FOR_EVER)
def test_a_wait_that_nothing_can_end_says_so(program):
    outcome = Sandbox(Limits()).run(plan_of(program), SampleHome(lambda action: None), answer)
    assert isinstance(outcome, Failed)
    assert (outcome.error, outcome.message) == ("RuntimeError", WAITS_FOR_EVER[program])


def test_a_failed_assertion_in_a_thread_ends_the_plan():
    program = "def f():\n    time.sleep(0)\n    assert False, 'no'\nt = threading.Thread(target=f)\nt.start()\nt.join()"
    outcome = Sandbox(Limits()).run(plan_of(program), SampleHome(lambda action: None), answer)
    assert isinstance(outcome, Failed)
    assert (outcome.error, outcome.message) == ("AssertionError", "no")


def test_a_thread_goes_on_in_a_later_step_and_a_step_waits_for_its_own():
    plan = (
        f"{IMPORTS}\ndef solution(agent, start_from=1):\n    if start_from <= 1:\n        box, seen = queue.Queue(), []\n"
        "        def late():\n            time.sleep(0.001)\n            print('slept')\n            seen.append(box.get())\n"
        "        threading.Thread(target=late).start()\n        print('one')\n"
        "    if start_from <= 2:\n        box.put(5)\n        print('two')\n    if start_from <= 3:\n        print(seen)\n"
    )
    outcome = Sandbox(Limits()).run(plan, SampleHome(lambda action: None), answer)
    assert isinstance(outcome, Finished), outcome
    assert outcome.output == "one\nslept\ntwo\n[5]\n"


@pytest.mark.parametrize(("leave", "ending"), [("sys.exit()", None), ("sys.exit(0)", None), ("sys.exit('no')", "no")])
def test_an_exit_ends_the_plan_well_unless_it_has_a_reason(leave, ending):
    plan = f"import sys\ndef solution(agent, start_from=1):\n    if start_from <= 1:\n        {leave}\n    if start_from <= 2:\n        print(2)\n"
    outcome = Sandbox(Limits()).run(plan, SampleHome(lambda action: None), answer)
    assert outcome.output == ""
    assert isinstance(outcome, Finished if ending is None else Failed)
    assert getattr(outcome, "message", None) == ending
