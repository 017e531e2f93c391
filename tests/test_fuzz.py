"""A few seconds of what ``make fuzz`` does for hours, and proof that its judges notice what they are for."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

FUZZ = Path(__file__).parent / "fuzz"

TARGETS = "frames analyses checks check cage programs hostile checkpoints traces tapes benches manifests specs settings skills texts episodes bodies caches tools calls servers"


def test_a_short_run_of_every_target_finds_nothing() -> None:
    command = [sys.executable, "-X", "faulthandler", str(FUZZ), "--seconds", "0.4"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-4_000:]
    found = re.findall(r"^(\w+): ([\d,]+) examples, nothing found$", done.stdout, re.MULTILINE)
    assert [name for name, _ in found] == TARGETS.split()
    assert all(int(count.replace(",", "")) > 0 for _, count in found)


JUDGED = """
import contextlib, json, os, socket, subprocess, sys
sys.path[:0] = [sys.argv[1], os.path.dirname(sys.argv[1])]
import confinement
from codeplan.errors import UsageError

watch, main = confinement.Watch(), confinement.main
for work in json.load(sys.stdin):
    told = ""
    try:
        with watch.example(), watch.watched(), contextlib.suppress(OSError):
            exec(work)
    except AssertionError as error:
        told = str(error)
    confinement.main = main
    print(json.dumps([work, told]))
"""


def judged(works: list[str]) -> dict[str, str]:
    """The error with which the judges end each example that does this work; empty if they let it pass."""
    command = [sys.executable, "-c", JUDGED, str(FUZZ)]
    done = subprocess.run(command, input=json.dumps(works), capture_output=True, text=True, check=True)
    return dict(map(json.loads, done.stdout.splitlines()))


EXAMPLES = {
    "open('/tmp/codeplan-fuzz-mark', 'w')": "it tried to write /tmp/codeplan-fuzz-mark",
    "open('../mark', 'w')": "it tried to write ../mark",
    "os.remove('/nowhere/x')": "it tried to os.remove /nowhere/x",
    "os.rename('/nowhere/x', 'y')": "it tried to os.rename /nowhere/x",
    "os.mkdir('/nowhere/x')": "it tried to os.mkdir /nowhere/x",
    "(watch.canary / 'secret').chmod(0)": "it tried to os.chmod",
    "socket.create_connection(('127.0.0.1', 9))": "it tried to socket.",
    "socket.getaddrinfo('example.invalid', 80)": "it tried to socket.getaddrinfo",
    "subprocess.run(['/bin/true'])": "it tried to subprocess.Popen",
    "os.system('true')": "it tried to os.system",
    "[bytes(700 << 20)].clear()": "",  # never written to, so it takes no memory
    "[b'x' * (700 << 20)].clear()": "it took too much memory",
    "confinement.judge_error(UsageError('x' * 5000))": "an error of 5,000 characters",
    "confinement.judge_error(UsageError('two\\nlines'))": "an error of several lines",
    "confinement.judge_sentence('internal error in codeplan (KeyError)')": "internal error",
    "confinement.main = lambda a: print('Traceback') or 0; watch.run_command('x')": "codeplan x (exit 0)",
    "confinement.main = lambda a: print('\\x1b[2J') or 0; watch.run_command('x')": "it printed",
    "confinement.main = lambda a: print('CANARY-5f1e') or 0; watch.run_command('x')": "another file",
    "confinement.main = lambda a: 70; watch.run_command('x')": "unknown exit code",
    "open('mine', 'w').close(); os.mkdir('folder'); os.remove('mine')": "",
    "confinement.judge_error(UsageError('the file x cannot be read'))": "",
    "watch.run_command('envs')": "",
}


def test_the_judges_notice_what_an_example_does() -> None:
    found = judged([*EXAMPLES])
    assert [*found] == [*EXAMPLES]
    assert {
        work: said for work, said in found.items() if EXAMPLES[work] not in said or (not EXAMPLES[work] and said)
    } == {}
