"""Watches what codeplan does with foreign data: no file outside its folder, no connection, no program, no surge.

An audit hook of the interpreter sees each attempt at once, whichever library makes it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mutation import CANARY_FOLDER

from codeplan.cli.app import main
from codeplan.errors import CodeplanError

MAX_CPU_SECONDS: Final = 20.0
MAX_GROWTH_BYTES: Final = 600 << 20
MAX_SENTENCE_CHARS: Final = 1_200
MAX_OUTPUT_CHARS: Final = 5_000_000
EXIT_CODES: Final = frozenset({0, 1, 2, 3, 4})

_SECRET: Final = "CANARY-5f1e"
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES: Final = frozenset(
    [
        "os.remove",
        "os.rename",
        "os.mkdir",
        "os.rmdir",
        "os.link",
        "os.symlink",
        "os.truncate",
        "os.chmod",
        "os.chown",
        "shutil.rmtree",
    ]
)
_PROGRAMS: Final = frozenset(["subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"])


class Watch:
    """A temporary folder, a canary folder beside it, and the attempts to leave the first."""

    def __init__(self) -> None:
        self._place = Path(tempfile.mkdtemp(prefix="codeplan-fuzz-"))
        self.folder, self.canary = self._place / "work", self._place / "canary"
        self.folder.mkdir()
        self.canary.mkdir()
        (self.canary / "secret").write_text(_SECRET)
        os.environ["FUZZ_SECRET"] = _SECRET
        self._attempts: list[str] = []
        self._active = False
        sys.addaudithook(self._hear)

    @contextlib.contextmanager
    def example(self) -> Iterator[Path]:
        """An empty folder, in which the example's work runs under watch. Raises AssertionError for what it did."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        os.chdir(self.folder)
        self._attempts.clear()
        before, began = _peak_bytes(), time.process_time()
        yield self.folder
        assert not self._attempts, f"it tried to {'; '.join(self._attempts[:5])}"
        assert time.process_time() - began < MAX_CPU_SECONDS, "it took too long"
        assert _peak_bytes() - before < MAX_GROWTH_BYTES, "it took too much memory"
        assert sorted(os.listdir(self.canary)) == ["secret"], "it wrote to another folder"
        assert (self.canary / "secret").read_text() == _SECRET, "it changed another file"

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Record attempts from here on."""
        self._active = True
        try:
            yield
        finally:
            self._active = False

    def fill(self, data: bytes) -> bytes:
        """The data with the canary's path in it."""
        return data.replace(CANARY_FOLDER.encode(), str(self.canary).encode())

    def write(self, name: str, data: bytes | str) -> Path:
        """Write a file of an example."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.fill(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data))
        return path

    def run_command(self, *arguments: str) -> int:
        """Run a command of codeplan under watch and judge what it says. Returns its exit code."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), self.watched():
            code = main(arguments)
        told = f"codeplan {' '.join(arguments)} (exit {code}): {err.getvalue()[:3000]}"
        assert code in EXIT_CODES, f"unknown exit code: {told}"
        for said in (out.getvalue(), err.getvalue()):
            assert len(said) < MAX_OUTPUT_CHARS, f"it printed {len(said):,} characters: {told}"
            assert not _CONTROLS.search(said), f"it printed {_CONTROLS.search(said)!r}: {told}"
            assert _SECRET not in said, f"it printed another file: {told}"
            assert "Traceback" not in said, told
        sentences = [line for line in err.getvalue().splitlines() if line.startswith("codeplan: ")]
        for sentence in sentences:
            judge_sentence(sentence.removeprefix("codeplan: "))
        return code

    def close(self) -> None:
        """Delete the folders."""
        os.chdir("/")
        shutil.rmtree(self._place, ignore_errors=True)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._active and (attempt := self._forbidden(event, arguments)):
            self._attempts.append(attempt)

    def _forbidden(self, event: str, arguments: tuple[Any, ...]) -> str:
        if event == "open":
            path, _, flags = arguments
            return f"write {path}" if flags and flags & _WRITING and not self._may_write(path) else ""
        if event in _CHANGES:
            return "" if self._may_write(arguments[0]) else f"{event} {arguments[0]}"
        if event in _PROGRAMS:
            return "" if _starts_zygote(arguments) else f"{event} {str(arguments[:2])[:200]}"
        if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
            return f"{event} {str(arguments[1:])[:200]}"
        return ""

    def _may_write(self, path: Any) -> bool:
        """Whether a path is in the example's folder, or relative to a folder that codeplan has opened there."""
        text = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""
        if not os.path.isabs(text):
            return ".." not in text.split("/")
        return text == os.devnull or Path(os.path.normpath(text)).is_relative_to(self._place / "work")


def judge_error(error: CodeplanError) -> None:
    """Assert that an error of codeplan is one clean sentence of bounded length."""
    judge_sentence(str(error))


def judge_sentence(text: str) -> None:
    """Assert that a text is one clean sentence of bounded length, and no confession."""
    assert text.strip(), "an error without a message"
    assert len(text) < MAX_SENTENCE_CHARS, f"an error of {len(text):,} characters: {text[:300]}"
    assert "\n" not in text, f"an error of several lines: {text[:500]}"
    assert not text.startswith(("internal error", "the operating system reports")), text


def _starts_zygote(arguments: tuple[Any, ...]) -> bool:
    return arguments[0] == sys.executable and "-S" in arguments[1]


def _peak_bytes() -> int:
    """The peak of this process's resident memory."""
    found = re.search(r"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found[1]) << 10 if found else 0
