"""Runs a command on a terminal of its own, as a person would."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[=>78]")


class OnTerminal(NamedTuple):
    """What a command wrote: ``text`` without control sequences, and all of it in ``raw``."""

    code: int
    text: str
    raw: str

    @property
    def lines(self) -> list[str]:
        """The lines as they stood when they ended; what a carriage return overwrote is left out."""
        return [line.rpartition("\r")[2] for line in self.text.replace("\r\n", "\n").split("\n")]


def codeplan_on_terminal(
    arguments: Sequence[str],
    folder: Path,
    *,
    columns: int = 80,
    interrupt_at: str | Callable[[], bool] = "",
    timeout: float = 120,
) -> OnTerminal:
    """Run ``codeplan`` in the folder. Ctrl-C is pressed once what was written has the pattern ``interrupt_at``, or once
    that is true. A moving line is drawn four times a second, so it need not show each number."""
    command = [sys.executable, "-m", "codeplan", *arguments]
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        environment = {**os.environ, "TERM": "xterm-256color"}
        environment.pop("COLUMNS", None)
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execve(sys.executable, command, environment)
    raw = _read(terminal, interrupt_at, time.monotonic() + timeout)
    os.close(terminal)
    status = os.waitpid(child, 0)[1]
    return OnTerminal(os.waitstatus_to_exitcode(status), _CONTROL.sub("", raw), raw)


def answer_questions(
    arguments: Sequence[str], prompt: bytes, answers: Sequence[str], folder: Path | None = None, typed_ahead: str = ""
) -> tuple[int, bytes, bytes]:
    """Run ``codeplan``, which reads from a terminal and shows its questions there, and type an answer after each prompt.

    Returns the exit code, what the terminal showed up to the last prompt, and the standard output.
    """
    ours, theirs = pty.openpty()
    os.write(ours, typed_ahead.encode())
    command = [sys.executable, "-m", "codeplan", *arguments]
    with subprocess.Popen(command, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, cwd=folder) as process:
        os.close(theirs)
        shown = b""
        for number, answer in enumerate(answers, 1):
            while shown.count(prompt) < number:
                shown += os.read(ours, 1_000)
            os.write(ours, answer.encode())
        out, _ = process.communicate(timeout=120)
    os.close(ours)
    return process.returncode, shown, out


def _read(terminal: int, interrupt_at: str | Callable[[], bool], until: float) -> str:
    """All that is written to the terminal until its end."""
    data, pressed = b"", not interrupt_at
    while time.monotonic() < until:
        if callable(interrupt_at) and not pressed and interrupt_at():
            pressed = True
            os.write(terminal, b"\x03")
        if not select.select([terminal], [], [], 0.02)[0]:
            continue
        try:
            found = os.read(terminal, 65536)
        except OSError:  # Linux's way to say that nobody has the terminal open any more
            return data.decode(errors="replace")
        if not found:
            return data.decode(errors="replace")
        data += found
        if (
            isinstance(interrupt_at, str)
            and not pressed
            and re.search(interrupt_at, _CONTROL.sub("", data.decode(errors="replace")))
        ):
            pressed = True
            os.write(terminal, b"\x03")
    raise TimeoutError(f"the command has not ended; it wrote: {data[-2000:]!r}")
