"""``codeplan chat``: messages from standard input, and at a terminal."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import codeplan

TOOLS = """
import os, time

def add(a: int, b: int) -> int:
    "Add."
    return a + b

def rest() -> str:
    "Take long."
    print("resting", flush=True)
    time.sleep(60)
    return "rested"

def kill() -> None:
    "Stop."
    if not os.path.exists("killed"):
        open("killed", "w").close()
        os.kill(os.getpid(), 9)

def model(messages):
    goal = messages[1]["content"].partition("<goal>\\n")[2].partition("\\n</goal>")[0]
    if goal == "where":
        return "Where to?" if len(messages) == 2 else plan(f"return {messages[-1]['content']!r}")
    return plan({"sum": "x = agent.add(1, 2)\\n        return x", "more": "return [x]", "rest": "agent.rest()",
                 "kill": "agent.kill()", "fail": "give_up('no way')"}[goal])

def plan(body):
    return f"```python\\ndef solution(agent, start_from=1):\\n    if start_from <= 1:\\n        {body}\\n```"
"""
CHAT = [sys.executable, "-m", "codeplan", "chat", "s", "--tools", "t.py:add,rest,kill", "--model", "t.py:model", "-q"]
SECONDS = 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.py").write_text(TOOLS)
    return tmp_path


def chat(folder: Path, typed: str, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*CHAT, *more], cwd=folder, input=typed, capture_output=True, text=True)


def test_each_line_is_a_message_and_the_answer_to_a_question(folder: Path) -> None:
    done = chat(folder, "sum\n\nwhere\nParis\nmore\nfail\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout == '3\nParis\n[\n  3\n]\n'
    assert "it asks: Where to?" in done.stderr and "no way" in done.stderr


def test_an_open_question_at_the_end_has_an_exit_code_and_is_answered_later(folder: Path) -> None:
    asked = chat(folder, "where\n")
    assert asked.returncode == 5 and "go on with: codeplan chat s" in asked.stderr
    assert chat(folder, "Rome\n").stdout == "Rome\n"


def test_a_chat_that_was_killed_goes_on_in_its_turn(folder: Path) -> None:
    assert chat(folder, "sum\nkill\n").returncode == -signal.SIGKILL
    stopped = chat(folder, "more\n")
    assert stopped.returncode == 2 and "nobody knows whether this call was done" in stopped.stderr
    done = chat(folder, "more\n", "--in-doubt", "retry")
    assert (done.returncode, done.stdout) == (0, "[\n  3\n]\n")


@pytest.mark.parametrize("option", [["--verify", "t.py:add"], ["--returns", "t.py:add"]])
def test_what_holds_for_one_goal_is_refused(folder: Path, option: list[str]) -> None:
    refused = chat(folder, "sum\n", *option)
    assert refused.returncode == 2 and "each message is a goal of its own" in refused.stderr


def test_at_a_terminal_ctrl_c_ends_the_turn_and_not_the_session(folder: Path) -> None:
    main, side = pty.openpty()
    process = subprocess.Popen(CHAT, cwd=folder, stdin=side, stdout=side, stderr=side, start_new_session=True)
    os.close(side)
    told = ""

    def wait_for(words: str) -> None:
        nonlocal told
        until = time.monotonic() + SECONDS
        while words not in told:
            assert time.monotonic() < until and process.poll() is None, told
            if select.select([main], [], [], 0.1)[0]:
                told += os.read(main, 4096).decode()
        told = told.partition(words)[2]

    try:
        wait_for("> ")
        os.write(main, b"rest\n")
        wait_for("resting")
        os.kill(process.pid, signal.SIGINT)
        wait_for("the turn was interrupted")
        wait_for("> ")
        os.write(main, b"sum\n")
        wait_for("3\r\n")
        wait_for("> ")
        os.write(main, b"\x04")
        assert process.wait(SECONDS) == 0
    finally:
        process.kill()
        os.close(main)
    assert codeplan.replay(folder / "s").value == 3
