"""The folders of runs: each holds a trace, and a file with the data that a later run needs to continue.

A run's id is its folder's name. It cannot be guessed, and a client can name a folder only by its id.
"""

from __future__ import annotations

import re
import secrets
import shutil
import threading
import time
from pathlib import Path
from typing import Final

import msgspec

from codeplan.errors import TraceFailure, UsageError
from codeplan.types import Checkpoint, Value
from codeplan.untrusted import files
from codeplan.untrusted.files import list_folder
from codeplan.untrusted.values import in_quotes

MAX_STATE_BYTES: Final = 64 << 20
"""Maximum size of the file beside a trace, in bytes."""

_STATE: Final = "state.json"
_RESUMED: Final = "resumed_as"
_ID: Final = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{16}")
_ID_BYTES: Final = 100


class RunState(Value, frozen=True):
    """The data of a run that its trace does not have. ``resumes`` is the run before it.

    ``entries`` are the variables at the entries of steps before the one that it began with. ``told`` is whether a
    client knows how the run was interrupted.
    """

    resumes: str | None = None
    entries: dict[int, Checkpoint] = {}
    told: bool = False


class RunFolders:
    """The runs in a folder, at most ``keep`` of them: a new run removes the oldest that does not run now."""

    def __init__(self, root: Path, keep: int) -> None:
        self.root, self._keep = root, keep
        self._running: set[str] = set()
        self._lock = threading.Lock()

    def create(self, state: RunState) -> str:
        """A folder for a new run, which counts as running until ``release``. Raises: TraceFailure."""
        with self._lock:
            try:
                self.root.mkdir(parents=True, exist_ok=True)
                self._remove_oldest()
                run = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(8)}"
                self.path(run).mkdir()
            except OSError as e:
                raise TraceFailure(f"a run's folder cannot be made in {self.root}: {e.strerror}") from e
            self._running.add(run)
        self.write_state(run, state)
        return run

    def reopen(self, run: str) -> None:
        """The run goes on: it counts as running until ``release``. Raises: UsageError: it runs already."""
        with self._lock:
            if run in self._running:
                raise UsageError(f"the run {run} has not ended yet; wait for its answer")
            self._running.add(run)

    def release(self, run: str) -> None:
        """The run has ended: its folder may be removed when it is the oldest."""
        with self._lock:
            self._running.discard(run)

    def find(self, run: str) -> Path:
        """The folder of a run that has ended. Raises: UsageError: there is none, it still runs, or it was resumed."""
        if not _ID.fullmatch(run) or not self.path(run).is_dir():
            raise UsageError(f"there is no run {in_quotes(run, 60)}; run_plan and resume_plan return a run's id")
        with self._lock:
            if run in self._running:
                raise UsageError(f"the run {run} has not ended yet; wait for its answer")
        if later := self._resumed_as(run):
            raise UsageError(f"the run {run} was resumed already; resume the run {later}")
        return self.path(run)

    def path(self, run: str) -> Path:
        """The folder of an id that was made here or found."""
        return self.root / run

    # ------------------------------------------------------------------ beside the trace

    def claim(self, run: str, later: str) -> None:
        """Note that ``later`` resumes the run, so that no other run does. Raises: UsageError: another one does."""
        try:
            with files.create_file(self.path(run) / _RESUMED, self.root) as file:
                files.write_all(file, later.encode())
        except FileExistsError:
            raise UsageError(f"the run {run} was resumed already; resume the run {self._resumed_as(run)}") from None
        except OSError as e:
            raise TraceFailure(f"the run {run} cannot be resumed: {e.strerror}") from e

    def unclaim(self, run: str, later: str) -> None:
        """Take back that ``later`` resumes the run: it did not start."""
        if self._resumed_as(run) == later:
            (self.path(run) / _RESUMED).unlink(missing_ok=True)

    def read_state(self, run: str) -> RunState:
        """The data beside the run's trace. Raises: UsageError: it cannot be read."""
        try:
            data = files.read_bytes(self.path(run) / _STATE, MAX_STATE_BYTES, self.root)
            return msgspec.json.decode(data, type=RunState)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise UsageError(f"the state of the run {run} cannot be read; run the plan anew with run_plan") from None

    def write_state(self, run: str, state: RunState) -> None:
        """Write the data beside the run's trace. Raises: TraceFailure."""
        try:
            files.write_atomically(self.path(run) / _STATE, msgspec.json.encode(state), self.root)
        except OSError as e:
            raise TraceFailure(f"the state of the run {run} cannot be written: {e.strerror}") from e

    def _resumed_as(self, run: str) -> str:
        """The run that resumed this one; empty if there is none."""
        try:
            later = files.read_bytes(self.path(run) / _RESUMED, _ID_BYTES, self.root).decode("ascii", "replace")
        except OSError:
            return ""
        return later if _ID.fullmatch(later) else "that did"

    @property
    def has_runs(self) -> bool:
        """Whether there are runs, perhaps of an earlier process."""
        return self.root.is_dir() and bool(self._names())

    def _names(self) -> list[str]:
        return [e.name for e in list_folder(self.root) if e.is_folder and _ID.fullmatch(e.name)]

    def _remove_oldest(self) -> None:
        """Make room for one more run."""
        found = self._names()
        idle = sorted(name for name in found if name not in self._running)
        for name in idle[: max(0, len(found) + 1 - self._keep)]:
            shutil.rmtree(self.path(name), ignore_errors=True)
