"""Kills a session by SIGKILL at random moments, and reads its tool's own log: each turn's call was made once.

    PYTHONPATH=tests python tests/support/killed_sessions.py 100 200

The arguments are the number of kills and of turns. After each kill another process goes on in the turn that was killed,
then with the next messages. A call in doubt is looked up in the log, as a person would, and made only if it is not there.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import codeplan
from codeplan.recording.events import DoubtDecided, TurnStarted

SESSION = '''
import os, pathlib, sys, time
import codeplan

HERE, TURNS = pathlib.Path(sys.argv[1]), int(sys.argv[2])
LOG = HERE / "calls.log"

def book(number: int) -> int:
    """Book a number."""
    time.sleep(0.002)
    file = os.open(LOG, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.write(file, f"{number}\\n".encode())
    os.close(file)
    time.sleep(0.002)
    return number

def was_done(tool, arguments):
    done = LOG.read_text().split() if LOG.exists() else []
    return "skip" if str(arguments["number"]) in done else "retry"

def model(messages):
    assert len(messages) == 2, messages[-1]["content"]
    number = int(messages[-1]["content"].partition("<goal>")[2].split()[1])
    before = f"assert last == {number - 1}, last" if number else "pass"
    return f"""```python
def solution(agent, start_from=1):
    if start_from <= 1:
        {before}
        try:
            agent.book({number})
        except OSError:
            pass
        last = {number}
        return last
```"""

with codeplan.Session(tools=book, model=model, folder=HERE / "s", in_doubt=was_done) as session:
    turns = len(session.turns)
    if turns and session.turns[-1].result is None:
        session.resume()
    for number in range(turns, TURNS):
        session.do(f"book {number}")
'''


class Figures(NamedTuple):
    """What happened: kills, doubts that were decided, and the calls that the tool's log has."""

    kills: int
    doubts: int
    calls: Counter[int]


def run(kills: int, turns: int, folder: Path, seed: int = 0) -> Figures:
    """Run a session of this many turns, killed this often."""
    chance, script = random.Random(seed), folder / "session.py"
    script.write_text(SESSION)
    done = 0
    while True:
        process = subprocess.Popen([sys.executable, script, folder, str(turns)])
        if done < kills:
            before = _turns(folder)
            while process.poll() is None and _turns(folder) <= before + chance.randrange(max(1, turns // kills)):
                time.sleep(0.005)
            time.sleep(chance.random() * 0.03)
            process.send_signal(signal.SIGKILL)
        if (code := process.wait()) == 0:
            break
        assert code == -signal.SIGKILL, f"the session ended with {code}"
        done += 1
    events = codeplan.Trace.read(folder / "s/trace.jsonl")
    assert sum(isinstance(event, TurnStarted) for event in events) == turns - 1
    made = Counter(map(int, (folder / "calls.log").read_text().split()))
    return Figures(done, sum(isinstance(event, DoubtDecided) for event in events), made)


def _turns(folder: Path) -> int:
    trace = folder / "s/trace.jsonl"
    return trace.read_bytes().count(b'"event":"turn_started"') if trace.exists() else 0


def main() -> None:
    """Run, and print the figures."""
    kills, turns = map(int, sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        found = run(kills, turns, Path(folder))
    twice = [number for number, count in found.calls.items() if count > 1]
    missing = [number for number in range(turns) if number not in found.calls]
    print(f"{found.kills} kills, {found.doubts} doubts, {found.calls.total()} calls in {turns} turns")
    print(f"made twice: {twice}; never made: {missing}")
    sys.exit(bool(twice or missing))


if __name__ == "__main__":
    main()
