"""A reader who types the commands of a page, in their order, in a folder of his own."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from support.shown_commands import codeplan_commands

ROOT = Path(__file__).parents[2]
CODEPLAN = [sys.executable, "-m", "codeplan"]
SECONDS = 120.0
INTERRUPTED = 130
LOOPBACK = "http://127.0.0.1:9/v1"
"""An endpoint where nobody listens: a command that must not need one finds none."""


class PageReader:
    """Plays the page's ``codeplan`` commands as printed; ``left`` are those that were not yet played.

    ``folder`` is the current folder and the home. ``variables`` are added to the environment.
    """

    def __init__(self, page: str, folder: Path, **variables: str) -> None:
        self.folder = folder
        self.left = codeplan_commands((ROOT / page).read_text(encoding="utf-8"))
        names = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
        own = {name: str(folder / ".reader") for name in names}
        bin_folder = Path(sys.executable).parent
        path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
        keys = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": LOOPBACK}
        self.environment = {**os.environ, **own, "PATH": path, **keys, **variables}

    def type(self, *arguments: str, code: int = 0, **variables: str) -> str:
        """Run a command that the page does not show; returns its output."""
        done = subprocess.run(
            [*CODEPLAN, *arguments],
            cwd=self.folder,
            env=self.environment | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, (arguments, done.stdout[-2000:], done.stderr[-2000:])
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout + done.stderr

    def play(self, begin: str = "", *, code: int = 0, **variables: str) -> str:
        """Run the page's next command, which begins so, to its end; returns its output."""
        return self.type(*self._next(begin), code=code, **variables)

    def play_all(self, **variables: str) -> None:
        """Run all commands that are left."""
        while self.left:
            self.play(**variables)

    def interrupt(self, begin: str, is_at_work: Callable[[], bool], **variables: str) -> None:
        """Run the page's next command, which takes long, until it is at work; then press Ctrl-C."""
        with self._started(self._next(begin), variables) as process:
            until = time.monotonic() + SECONDS
            while not is_at_work():
                assert process.poll() is None, (begin, process.communicate())
                assert time.monotonic() < until, f"{begin} does not begin to work"
                time.sleep(0.02)
            _press_ctrl_c(process, INTERRUPTED)

    @contextlib.contextmanager
    def served(self, begin: str, *, code: int = 0, **variables: str) -> Iterator[str]:
        """Run the page's next command, a server, which prints its address; Ctrl-C at the end."""
        with self._started(self._next(begin), variables) as process:
            assert process.stdout
            seen = ""
            while not (found := re.search(r"http://\S+", seen)):
                line = process.stdout.readline()
                assert line, f"{begin} ended: {seen}"
                seen += line
            yield found[0]
            _press_ctrl_c(process, code)

    def skip(self, begin: str) -> None:
        """Leave out the page's next command, which begins so."""
        self._next(begin)

    def has(self, pattern: str) -> bool:
        """Whether there is a file of this pattern in the folder."""
        return next(self.folder.glob(pattern), None) is not None

    def _next(self, begin: str) -> list[str]:
        arguments = self.left.pop(0)
        assert " ".join(arguments).startswith(begin), f"the page's next command is: codeplan {' '.join(arguments)}"
        return arguments

    @contextlib.contextmanager
    def _started(self, arguments: list[str], variables: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
        with subprocess.Popen(
            [*CODEPLAN, *arguments],
            cwd=self.folder,
            env=self.environment | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            guard = threading.Timer(SECONDS, process.kill)
            guard.start()
            try:
                yield process
            finally:
                guard.cancel()
                process.kill()


def _press_ctrl_c(process: subprocess.Popen[str], code: int) -> None:
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == code, (process.args, output)
    assert "Traceback" not in output, output


Read = Callable[..., PageReader]
"""Opens a page: its path, and variables of the environment."""
