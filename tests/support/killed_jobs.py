"""Kills jobs that act by SIGKILL at random moments, resumes them, and reads the tools' own logs.

    PYTHONPATH=tests python tests/support/killed_jobs.py 500

Each job has tools that are called once, of which one needs an approval, a tool that may be called again, a verifier that
is not content at first, and a careless model: its refined plans repeat, merge and renumber steps that are done. Two of
three jobs begin the calls of a step together, so that up to eight are open when they are killed. The
episode, its resumptions and the processes that answer for approvals are killed up to fourteen times. A call in doubt is
skipped or made again, by the job's number. The logs must show no call of a once-tool twice, unless a doubt was decided
so, no other call more often than the trace begins it, and no call that was refused. The command must name every call
that is open.
"""

from __future__ import annotations

import importlib
import json
import math
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from support.tool_crashes import Figures, Round, _call, _never, _retried

import codeplan
from codeplan.cli.app import main
from codeplan.recording.events import CallAnswered, CallBegun, CallRepeated, CallsByAnswer, DoubtDecided, Event

TOOLS = '''
import os, pathlib, time

import codeplan

HERE = pathlib.Path(__file__).parent

def write(line, log="calls.log"):
    file = os.open(HERE / log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.write(file, f"{line}\\n".encode())
    os.fsync(file)
    os.close(file)
    time.sleep(0.008)

def lines():
    return [line for log in HERE.glob("*.log") for line in log.read_text().splitlines()]

def fail_once(key):
    time.sleep(0.004)
    flag = HERE / f"failed-{key}"
    if not flag.exists():
        flag.touch()
        raise RuntimeError(f"{key} fails for the first time")

class Tools:
    @codeplan.tool(at_once=8)
    def send(self, key: str) -> str:
        """Send a letter."""
        if key in "bz":
            fail_once(key)
        write(f"send {key}")
        return key

    @codeplan.tool(at_once=8)
    def pay(self, key: str) -> str:
        """Pay somebody."""
        if key == "y":
            fail_once(key)
        write(f"pay {key}")
        return key

    @codeplan.tool(at_once=8)
    def note(self, key: str) -> str:
        """Note a key."""
        write(f"note {key}")
        return key

    def done(self, call: str) -> bool:
        """Whether a call was logged."""
        return call in lines()

tools = Tools()
'''
MODEL = '''
import random, time

def act(call):
    tool, key = call.split()
    body = [f"agent.{tool}('{key}')", "except PermissionError:", "    refused += 1", "except OSError:"]
    body = ["try:", f"    {body[0]}", *body[1:], f"    if not agent.done('{call}'):", "        continue", "break"]
    return ["for _ in range(9):", *(f"    {line}" for line in body), f"agent.note('{key}')"]

TOGETHER = False
HELPER = """
async def act(tool, key):
    refused = 0
    for _ in range(9):
        try:
            if tool == 'send':
                await agent.send(key)
            else:
                await agent.pay(key)
        except PermissionError:
            refused += 1
        except OSError:
            if not agent.done(f'{tool} {key}'):
                continue
        break
    await asyncio.gather(agent.note(key), agent.note(key + key))
    return refused
"""

def step(number, calls):
    if TOGETHER:
        listed = ", ".join(f"act(*{call.split()})" for call in calls)
        body = [f"print('[Step {number}] act')", f"refused = sum(await asyncio.gather({listed}))"]
        body += [f"assert refused < 2, f'Error in [Step {number}]: refused'"]
        return f"    if start_from <= {number}:\\n" + "".join(f"        {line}\\n" for line in body)
    body = [f"print('[Step {number}] act')", "refused = 0", *(line for call in calls for line in act(call))]
    body += [f"assert refused < 2, f'Error in [Step {number}]: refused'"]
    return f"    if start_from <= {number}:\\n" + "".join(f"        {line}\\n" for line in body)

def reply(messages):
    """A plan of all calls, cut into steps anew or as before."""
    said = "".join(message["content"] for message in messages)
    draw = random.Random(messages[-1]["content"])
    calls = ["send a", "send b", "pay x", "send c", "pay n", "pay y"] + ["send z"] * ("missing: send z" in said)
    cuts = draw.choice([[3], [3], [2, 4], [0, 3], [1, 3], []])
    bounds = [0, *cuts, len(calls)]
    steps = [step(n, calls[a:b]) for n, (a, b) in enumerate(zip(bounds, bounds[1:]), 1)]
    return "```python\\n" + HELPER * TOGETHER + "def solution(agent, start_from=1):\\n" + "".join(steps) + "    return 'done'\\n```"

def verify(value, tools):
    time.sleep(0.02)
    missing = [call for call in WANTED if not tools.done(call)]
    return not missing or f"missing: {missing[0]}"

WANTED = ["send a", "send b", "send c", "pay x", "pay y", "send z"]
'''
WANTED = ["send a", "send b", "send c", "pay x", "pay y", "send z"]
GIVEN = ["--tools", "tools.py:tools", "--verify", "model.py:verify", "--model", "model.py:reply", "--quiet", "--json"]
GIVEN += ["--ask", "pay", "--once", "send", "--once", "pay"]
SETTINGS = ["--tries", "40", "--set", "no_progress=0"]
WAITING = 5


class Job(Round):
    """One job, from its start to its end."""

    files: ClassVar = {"tools.py": TOOLS, "model.py": MODEL}
    wait: ClassVar = (0.02, 1)

    def __init__(self, folder: Path, number: int, figures: Figures) -> None:
        super().__init__(folder, number, figures)
        self.on_terminal = False
        if number % 3:
            (folder / "model.py").write_text(MODEL.replace("TOGETHER = False", "TOGETHER = True"))
        self.kills_left = self.draw.randint(5, 14)
        if number % 6 >= 2:
            model = folder / "model.py"
            model.write_text(model.read_text().replace('"pay n", ', ""))
        self.killed_within: dict[int, set[int]] = defaultdict(set)  # by the call's number: the begun events left open

    def play(self) -> None:
        """Start, kill, answer, resume; then compare."""
        for _ in range(200):
            code, shown = self._run_command()
            if code < 0:
                self.figures.add("killed")
                self._note_open_call()
            elif code == WAITING:
                self.figures.add("waited for an approval")
                self._approve()
            elif code == 2 and "nobody knows" in shown:
                self._decide(shown)
            else:
                self._compare(code, shown)
                return
        self.figures.blame(f"{self.folder}: no end")

    def _given(self) -> list[str]:
        if not self._recording():
            shutil.rmtree(self.folder / "run", ignore_errors=True)
            return ["do", "do all calls", "--out", "run", *SETTINGS, *GIVEN]
        way, self._way = self._way, ""
        return ["resume", "run", *GIVEN, *(["--in-doubt", way] if way else [])]

    def _run_command(self) -> tuple[int, str]:
        """The exit code, and what was shown on standard error."""
        child = self._fork(self._given())
        moment = self._moment() if self.kills_left else _never()
        while (code := _ended(child)) is None:
            if next(moment):
                self.kills_left -= 1
                os.kill(child, signal.SIGKILL)
                moment = _never()
            time.sleep(0.0003)
        return code, (self.folder / "shown").read_text()

    def _fork(self, arguments: list[str], at_end: Callable[[], object] = int) -> int:
        """Run the command in a fork of this process, which has no threads, so that codeplan is imported once."""
        child = os.fork()
        if child == 0:
            os.chdir(self.folder)
            for number, name in enumerate(("/dev/null", "out", "shown")):
                os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
            sys.argv[0] = "codeplan"
            code = main(arguments)
            at_end()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        return child

    def _approve(self) -> None:
        """Answer from another process, which may be killed as well."""
        reason = codeplan.replay(self.folder / "run").reason
        refuse = ["--no", "not this one"] if "pay(key='n')" in reason else []
        child, ends = self._fork(["approve", "run", *refuse]), math.inf
        if self.kills_left and self.draw.random() < 0.3:
            ends = time.monotonic() + self.draw.uniform(0, 0.05)
        while (code := _ended(child)) is None:
            if time.monotonic() > ends:
                ends = math.inf
                self.kills_left -= 1
                os.kill(child, signal.SIGKILL)
            time.sleep(0.0003)
        if code < 0:
            self.figures.add("killed")
            self.figures.add("killed while approving")
        elif code:
            self.figures.blame(f"{self.folder}: approve says {(self.folder / 'shown').read_text()}")

    def _note_open_call(self) -> None:
        """Remember the calls that the kill left open."""
        left_open = _open_calls(self._recording())
        for begun in left_open:
            self.killed_within[begun.id].add(begun.seq)
        if left_open:
            self.figures.add("killed within a call")
            self.figures.add("calls left open by a kill", len(left_open))
            self.figures.add(f"kills that left {len(left_open)} open")

    def _choose_way(self, done: bool) -> str:
        return "skip" if self.number % 2 else "retry"

    def _compare(self, code: int, shown: str) -> None:
        events, log = self._recording(), self._log()
        if code != 0:
            self.figures.blame(f"{self.folder}: exit code {code}: {shown[-800:]!r}")
            return
        self.figures.add("reached the goal")
        if codeplan.replay(self.folder / "run").value != json.loads((self.folder / "out").read_text())["value"]:
            self.figures.blame(f"{self.folder}: the replay ends otherwise")
        retried, begun = Counter(_retried(events)), Counter(_made(events))
        for call in {*WANTED, *log}:
            most = begun[call] if call.startswith("note") else (call in WANTED) + retried[call]
            if not (call in WANTED) <= log[call] <= most:
                self.figures.blame(f"{self.folder}: {call} was made {log[call]} times, not up to {most}")
        decided = Counter(event.id for event in events if isinstance(event, DoubtDecided))
        for id, left_open in self.killed_within.items():
            if decided[id] < len(left_open):
                self.figures.blame(f"{self.folder}: call {id} was left open {len(left_open)} times; see {decided}")
        self._count(events, log)

    def _count(self, events: list[Event], log: Counter[str]) -> None:
        result = codeplan.replay(self.folder / "run")
        self.figures.add("refinements", result.refinements)
        self.figures.add("doubts decided", sum(isinstance(e, DoubtDecided) for e in events))
        self.figures.add("answered from the record", sum(isinstance(e, CallRepeated) for e in events))
        self.figures.add("calls in the logs", log.total())
        self.figures.add("made twice, after a retry", sum(log[call] - 1 for call in WANTED))


def _open_calls(events: list[Event]) -> list[CallBegun]:
    calls, begun = CallsByAnswer(), dict[int, CallBegun]()
    for event in events:
        calls.take(event)
        if isinstance(event, CallBegun):
            begun[event.id] = event
        elif isinstance(event, CallAnswered):
            begun.pop(event.id, None)
    left = {id(call) for call in calls.all_in_doubt}
    return [event for event in begun.values() if id(event.call) in left]


def _made(events: list[Event]) -> list[str]:
    """The calls that the trace begins, each time, without those that got an answer from the record."""
    repeated = {event.id for event in events if isinstance(event, CallRepeated)}
    return [_call(event.call) for event in events if isinstance(event, CallBegun) and event.id not in repeated]


def _ended(child: int) -> int | None:
    """The exit code of a process that has ended, negative after a signal."""
    ended, status = os.waitpid(child, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def play_jobs(folder: Path, kills: int, first: int = 0) -> Figures:
    """Play every second job in this process, until this many kills were done."""
    figures, number = Figures(), first
    _import_all(folder / f"imports-{first}")
    while figures.counts["killed"] < kills and not figures.faults:
        Job(folder / str(number), number, figures).play()
        figures.add("episodes")
        number += 2
        (folder / f"figures-{first}.json").write_text(json.dumps(figures.counts))  # for whoever ends it early
    return figures


def _import_all(folder: Path) -> None:
    """Import what a job imports, so that its forks need not."""
    job = Job(folder, 0, Figures())
    names = folder / "names"
    child = job._fork(["do", "do all calls", *SETTINGS, *GIVEN], lambda: names.write_text("\n".join(sys.modules)))
    os.waitpid(child, 0)
    for name in names.read_text().splitlines():
        if name.startswith(("codeplan.", "pydantic", "msgspec", "typer", "rich", "jinja2", "libcst")):
            with suppress(Exception):
                importlib.import_module(name)


def main_of_script() -> int:
    """Play the jobs in two processes and print what they came to; 1 if there were faults.

    ``--half FIRST KILLS FOLDER`` plays one half in this process.
    """
    if sys.argv[1:2] == ["--half"]:
        first, kills, folder = sys.argv[2:5]
        figures = play_jobs(Path(folder), int(kills), int(first))
        figures.show()
        return 1 if figures.faults else 0
    kills = int(sys.argv[1]) if sys.argv[1:] else 500
    folder = Path(tempfile.mkdtemp(prefix="killed-jobs-"))
    both = Figures()
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        for done in [pool.submit(play_half, folder, kills // 2, first) for first in (0, 1)]:
            counts, faults = done.result()
            both.counts += counts
            both.faults += faults
    both.show()
    if not both.faults:
        shutil.rmtree(folder)
    return 1 if both.faults else 0


def play_half(folder: Path, kills: int, first: int) -> tuple[Counter[str], list[str]]:
    """The counts and the faults of the jobs of one process."""
    figures = play_jobs(folder, kills, first)
    return figures.counts, figures.faults


if __name__ == "__main__":
    sys.exit(main_of_script())
