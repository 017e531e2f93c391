"""Kills episodes with tools by SIGKILL at random moments, resumes them, and reads the tools' own logs.

    PYTHONPATH=tests python tests/support/tool_crashes.py 300

Each round is an episode of ``codeplan do`` with functions, an MCP server, a tool that needs approval and a refinement in
its middle. It and its resumptions are killed up to three times; then it is resumed to its end. Half of the rounds run on
a terminal, whose questions are answered here. A call in doubt is decided by the round's policy: ``look`` reads the logs
and skips what is done, ``retry`` makes it again, ``idempotent`` lets patterns decide. The end must be that of an
undisturbed episode; the logs must show each call once, and once more for each retry that the trace has.
"""

from __future__ import annotations

import json
import os
import pty
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

import codeplan
from codeplan.recording.events import CallBegun, CallsByAnswer, DoubtDecided, EpisodeStarted, Event
from codeplan.recording.trace import Trace
from codeplan.types import Call

SEED = 2026
TOOLS = '''
import os, pathlib, time

HERE = pathlib.Path(__file__).parent

def write(line, log="calls.log"):
    file = os.open(HERE / log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.write(file, f"{line}\\n".encode())
    os.fsync(file)
    os.close(file)
    time.sleep(0.008)

def lines():
    return [line for log in HERE.glob("*.log") for line in log.read_text().splitlines()]

class Tools:
    def note(self, key: str) -> str:
        """Note a key."""
        write(f"note {key}")
        return key

    def keep(self, key: str) -> str:
        """Keep a key."""
        write(f"keep {key}")
        return key

    def look(self, call: str) -> bool:
        """Whether a call was logged."""
        return call in lines()

tools = Tools()
'''
SERVER = '''
import pathlib, sys
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from mcp.server.mcpserver import MCPServer
from tools import write

server = MCPServer("stamps", log_level="ERROR")

@server.tool()
def stamp(key: str) -> str:
    """Stamp a key."""
    write(f"stamp {key}", "server.log")
    return key

server.run("stdio")
'''
PLAN = """
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] the first keys')
        done = []
        for letter in 'abc':
            try:
                done.append(agent.note(letter))
            except OSError as e:
                assert agent.look(f'note {letter}'), f'Error in [Step 1]: {e}'
                done.append(letter)
            try:
                done.append(agent.stamp(letter))
            except OSError as e:
                assert agent.look(f'stamp {letter}'), f'Error in [Step 1]: {e}'
                done.append(letter)
        assert len(done) == 6, f'Error in [Step 1]: {agent.report()}'
    if start_from <= 2:
        print('[Step 2] the other keys')
        for letter in 'de':
            try:
                done.append(agent.keep(letter))
            except OSError as e:
                assert agent.look(f'keep {letter}'), f'Error in [Step 2]: {e}'
                done.append(letter)
        assert len(done) == 9, f'Error in [Step 2]: there are {len(done)}'
    return done
"""
REFINED = (
    PLAN.replace("in 'de'", "in 'f'")
    .replace("agent.keep(letter)", "agent.stamp(letter)")
    .replace("'keep {", "'stamp {")
    .replace("== 9", "== 9 or len(done) == 7")
)
MODEL = f"""
PLAN, REFINED = {PLAN!r}, {REFINED!r}

def reply(messages):
    return f"```python\\n{{REFINED if 'there are 8' in messages[-1]['content'] else PLAN}}\\n```"

def verify(value, tools):
    return value == EXPECTED or f"the plan returned {{value}}"

EXPECTED = list("aabbccdef")
"""
CALLS = [*(f"{tool} {k}" for k in "abc" for tool in ("note", "stamp")), "keep d", "keep e", "stamp f"]
EXPECTED = list("aabbccdef")

Policy = Literal["look", "retry", "idempotent"]
POLICIES: tuple[Policy, ...] = ("look", "retry", "idempotent")
EXPECTED_EXIT = {0: "reached the goal", 2: "in doubt", -signal.SIGKILL: "killed"}


@dataclass
class Figures:
    """What the rounds came to."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, what: str, number: int = 1) -> None:
        with self._lock:
            self.counts[what] += number

    def blame(self, what: str) -> None:
        with self._lock:
            self.faults.append(what)

    def show(self) -> None:
        """Print the counts and the faults."""
        for what, count in sorted(self.counts.items()):
            print(f"{count:6}  {what}")
        for fault in self.faults:
            print(fault)


class Round:
    """One episode, from its start to its end."""

    files: ClassVar = {"tools.py": TOOLS, "server.py": SERVER, "model.py": MODEL}
    wait: ClassVar = (0.2, 6)

    def __init__(self, folder: Path, number: int, figures: Figures) -> None:
        self.folder, self.number, self.figures = folder, number, figures
        self.draw = random.Random(f"{SEED} {number}")
        self.policy = POLICIES[number % 3]
        self.on_terminal = number % 2 == 0
        self.kills_left = self.draw.randint(1, 3)
        self.named: Counter[str] = Counter()
        self._way = ""
        folder.mkdir()
        for name, text in self.files.items():
            (folder / name).write_text(text)

    def play(self) -> None:
        """Start, kill, resume; then compare."""
        for _ in range(50):
            code, shown = self._run_command()
            self.figures.add(EXPECTED_EXIT.get(code, f"exit code {code}"))
            if code == 2:
                self._decide(shown)
            elif code != -signal.SIGKILL:
                self._compare(code, shown)
                return
        self.figures.blame(f"{self.folder}: no end")

    # -------------------------------------------------------------- the command

    def _command(self) -> list[str]:
        server = f"{sys.executable} {self.folder / 'server.py'}"
        given = [
            "--tools",
            "tools.py:tools",
            "--mcp",
            server,
            "--verify",
            "model.py:verify",
            "--model",
            "model.py:reply",
        ]
        given += ["--allow", "stamp", "--quiet", "--json"] + ["--ask", "keep"] * self.on_terminal
        if not self._recording():
            shutil.rmtree(self.folder / "run", ignore_errors=True)
            return [*_CODEPLAN, "do", "note all keys", "--out", "run", *given]
        given += ["--idempotent", "*"] if self.policy == "idempotent" else []
        given += ["--in-doubt", self._way] if self._way else []
        self._way = ""
        return [*_CODEPLAN, "resume", "run", *given]

    def _run_command(self) -> tuple[int, str]:
        """The exit code and what was shown on standard error."""
        ours, theirs = pty.openpty()
        errors = theirs if self.on_terminal else subprocess.PIPE
        stdin = theirs if self.on_terminal else subprocess.DEVNULL
        with (self.folder / "out").open("wb") as out:
            child = subprocess.Popen(self._command(), cwd=self.folder, stdin=stdin, stdout=out, stderr=errors)
        os.close(theirs)
        source = ours if child.stderr is None else child.stderr.fileno()
        shown = self._watch(child, source, ours)
        os.close(ours)
        if child.stderr is not None:
            child.stderr.close()
        return child.returncode, shown

    def _watch(self, child: subprocess.Popen[bytes], source: int, terminal: int) -> str:
        """Answer its questions, and kill it if it is its time; returns what it showed."""
        moment = self._moment() if self.kills_left else _never()
        shown, answered = b"", 0
        while child.poll() is None:
            if next(moment):
                self.kills_left -= 1
                child.send_signal(signal.SIGKILL)
                child.wait()
                break
            if select.select([source], [], [], 0.0005)[0] and (more := _read(source)):
                shown += more
                answered = self._answer(shown, answered, terminal)
        while select.select([source], [], [], 0)[0] and (more := _read(source)):
            shown += more
        return shown.decode(errors="replace")

    def _answer(self, shown: bytes, answered: int, terminal: int) -> int:
        """Answer the questions that were not answered yet; returns how many there were by now."""
        questions = [m.group() for m in re.finditer(rb"or a reason to refuse: |\[retry/skip/STOP\] ", shown)]
        for question in questions[answered:]:
            if b"refuse" in question:
                os.write(terminal, b"y\n")
                self.figures.add("approved on the terminal")
            else:
                self._decide(shown.decode(errors="replace"))
                os.write(terminal, f"{self._way}\n".encode())
                self._way = ""
        return len(questions)

    def _moment(self) -> Iterator[bool]:
        """True once it is time to kill: after a while, once the trace has grown, or around a call."""
        begun, kind = time.monotonic(), self.draw.random()
        if kind < 0.2:
            wait = self.draw.uniform(*self.wait)
            while time.monotonic() - begun < wait:
                yield False
        elif kind < 0.5:
            size = self._trace_bytes() + self.draw.randint(1, self.draw.choice((3_000, 40_000)))
            while self._trace_bytes() < size:
                yield False
            time.sleep(self.draw.choice((0, self.draw.uniform(0, 0.02))))
        else:
            lines = self._log().total() + self.draw.randint(1, 4)
            while self._log().total() < lines:
                yield False
            time.sleep(self.draw.uniform(0, 0.015))
        while True:
            yield True

    def _trace_bytes(self) -> int:
        trace = self.folder / "run" / "trace.jsonl"
        return trace.stat().st_size if trace.exists() else 0

    # -------------------------------------------------------------- what it left behind

    def _recording(self) -> list[Event]:
        trace = self.folder / "run" / "trace.jsonl"
        events = Trace.read(trace) if trace.exists() else []
        return events if events and isinstance(events[0], EpisodeStarted) else []

    def _log(self) -> Counter[str]:
        return Counter(line for log in self.folder.glob("*.log") for line in log.read_text().splitlines())

    def _decide(self, shown: str) -> None:
        """Decide about the calls that the command named. They must be those that the trace begins and does not end."""
        calls = _unanswered(self._recording())
        if not calls or not all(_form(call) in shown for call in calls):
            self.figures.blame(f"{self.folder}: {calls} are in doubt, and the command says {shown[-2_000:]!r}")
        done = False
        for call in calls:
            self.named[call] += 1
            done = self._log()[call] > 0
            self.figures.add(f"in doubt, and {'done' if done else 'not done'}")
        self._way = self._choose_way(done)

    def _choose_way(self, done: bool) -> str:
        return "skip" if self.policy == "look" and done else "retry"

    def _compare(self, code: int, shown: str) -> None:
        events, log = self._recording(), self._log()
        if code != 0:
            self.figures.blame(f"{self.folder}: exit code {code}: {shown[-800:]!r}")
            return
        result = json.loads((self.folder / "out").read_text())
        if result["value"] != EXPECTED or not result["success"]:
            self.figures.blame(f"{self.folder}: another end: {result['value']}")
        if codeplan.replay(self.folder / "run").value != EXPECTED:
            self.figures.blame(f"{self.folder}: the replay ends otherwise")
        retried = Counter(_retried(events))
        if self.policy != "idempotent" and (unnamed := retried - self.named):
            self.figures.blame(f"{self.folder}: {unnamed} were made again, and not named")
        for call in {*CALLS, *log}:
            most = 1 if self.policy == "look" else 1 + retried[call]
            if not 1 <= log[call] <= most or call not in CALLS:
                self.figures.blame(f"{self.folder} ({self.policy}): {call} was made {log[call]} times, not 1 to {most}")
        self.figures.add("calls in the logs", log.total())
        self.figures.add("made twice, after a retry", sum(n - 1 for n in log.values()))


def _unanswered(events: list[Event]) -> list[str]:
    """The calls that are begun and not answered, as the logs have them."""
    calls = CallsByAnswer()
    for event in events:
        calls.take(event)
    return [_call(call) for call in calls.all_in_doubt]


def _retried(events: list[Event]) -> Iterator[str]:
    begun: dict[int, str] = {}
    for event in events:
        if isinstance(event, CallBegun):
            begun[event.id] = _call(event.call)
        elif isinstance(event, DoubtDecided) and event.way == "retry":
            yield begun[event.id]


def _call(call: Call) -> str:
    return " ".join([call.name, *map(str, (call.arguments or {}).values())])


def _form(call: str) -> str:
    """The call as the command shows it."""
    tool, _, value = call.partition(" ")
    return f"{tool}({'call' if tool in ('done', 'look') else 'key'}='{value}')"


def _never() -> Iterator[bool]:
    while True:
        yield False


def _read(source: int) -> bytes:
    try:
        return os.read(source, 65_536)
    except OSError:  # the other end of a terminal is closed
        return b""


_CODEPLAN = (sys.executable, "-m", "codeplan")


def play_rounds(folder: Path, kills: int, first: int = 0, workers: int = 2, kind: type[Round] = Round) -> Figures:
    """Play rounds until this many kills were done."""
    figures = Figures()

    def work(number: int) -> None:
        while figures.counts["killed"] < kills:
            kind(folder / str(number), number, figures).play()
            figures.add("episodes")
            number += 2

    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work, first + i) for i in range(workers)]:
            done.result()
    return figures


def main() -> int:
    """Play the rounds and print what they came to; 1 if there were faults."""
    kills = int(sys.argv[1]) if sys.argv[1:] else 300
    folder = Path(tempfile.mkdtemp(prefix="tool-crashes-"))
    figures = play_rounds(folder, kills)
    figures.show()
    if not figures.faults:
        shutil.rmtree(folder)
    return 1 if figures.faults else 0


if __name__ == "__main__":
    sys.exit(main())
