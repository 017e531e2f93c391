"""Finds ALFWorld's data, lists its splits and games, and checks its files.

The data is ``json_2.1.1`` (or a later release) / ``valid_unseen``, ``valid_seen`` or ``train`` / a folder for each task
/ a folder for each of its trials. A user may name the folder of the data, of a release or of a split.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from codeplan.envs.alfworld import game_files
from codeplan.envs.alfworld.game_files import GAME_FILE, KINDS_BY_TYPE, STATE_FILE, TRAJECTORY_FILE
from codeplan.envs.household.walkthrough import find_walkthrough
from codeplan.errors import UsageError
from codeplan.types import Task
from codeplan.untrusted.values import in_quotes

SPLIT_SIZES = {"valid_unseen": 134, "valid_seen": 140, "train": 3553}
"""The splits of ALFWorld's data and their numbers of games."""

DOWNLOAD_INSTRUCTIONS = (
    "run: pip install alfworld && alfworld-download; it stores the data in ~/.cache/alfworld or $ALFWORLD_DATA, where "
    "codeplan finds it; give any other folder with --data FOLDER, in Python with data=FOLDER"
)

_DEFAULT = Path("~/.cache/alfworld")
_TASK = re.compile(r"([a-z_]+)-[^-]+-[^-]*-[^-]*-(\d+)")
"""A task's folder: type, object, movable receptacle, receptacle, room number."""

_UNSEEN_ROOMS = {"10", "219", "308", "424"}
"""The rooms of valid_unseen. No other split has them."""


class ALFWorldData:
    """A folder of ALFWorld's data, read on demand and never written to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def splits(self) -> dict[str, list[Path]]:
        """The folders of each split's trials, in order of their ids; the usual splits come first.

        Raises: UsageError if the folder does not exist or has no games.
        """
        if not self.folder.is_dir():
            raise UsageError(f"there is no folder {self.folder} with ALFWorld's data; {DOWNLOAD_INSTRUCTIONS}")
        found = {name: trials for name, folder in self._folders() if (trials := _playable(folder))}
        if not found:
            raise UsageError(
                f"there are no games of ALFWorld in {self.folder}; name a folder that contains json_2.1.1, "
                f"valid_unseen, or the tasks' folders; to get the data, {DOWNLOAD_INSTRUCTIONS}"
            )
        return {name: found[name] for name in sorted(found, key=lambda n: (*SPLIT_SIZES, n).index(n))}

    def tasks(self, split: str) -> list[Task]:
        """Return the games of a split that ALFWorld plays. A damaged game is among them, without its goal."""
        return [task for trial in self.splits.get(split, []) if (task := _task(trial, split))]

    def trial_folder(self, id: str) -> Path:
        """Return the folder of a task's trial, solvable or not. Raises: UsageError if there is none."""
        if not re.fullmatch(r"[^/\\\0]+/[^/\\\0]+", id) or ".." in id:
            raise self._unknown(id)
        for trial in (folder / id for _, folder in self._folders()):
            if (trial / GAME_FILE).exists() or ((trial / STATE_FILE).exists() and (trial / TRAJECTORY_FILE).exists()):
                return trial
        raise self._unknown(id)

    def faults(self) -> Iterator[str]:
        """Yield a sentence for each damaged file, which names it. Reads every file."""
        for trials in self.splits.values():
            for trial in trials:
                try:
                    game_files.load_game(trial)
                except ValueError as e:
                    yield str(e)
        for _, folder in self._folders():
            for trial in _trials(folder):
                if not (trial / GAME_FILE).exists() and not (trial / STATE_FILE).exists():
                    has = (
                        f"only {TRAJECTORY_FILE}"
                        if (trial / TRAJECTORY_FILE).exists()
                        else "none of the files of a game"
                    )
                    yield f"the folder {trial} is half downloaded: it has {has}; run alfworld-download again"

    def notes(self) -> list[str]:
        """Return lines on the data: its folder, and how each split compares with the complete data."""
        lines = [f"data    {self.folder}"]
        for name in self.splits:
            there, whole = len(self.tasks(name)), SPLIT_SIZES.get(name)
            left = len(self.splits[name]) - there
            of = f" of the {whole:,} games of the complete data" if whole else " games"
            skipped = f"; {left:,} more are left out: they are not known to be solvable" if left else ""
            lines.append(f"{name}  {there:,}{of}{skipped}")
        return lines

    def _folders(self) -> Iterator[tuple[str, Path]]:
        """The splits' names and folders. If several releases have a split, the latest one with games counts."""
        if _holds_tasks(self.folder):
            yield _split_name(self.folder), self.folder
            return
        seen: set[str] = set()
        for holder in (self.folder, *sorted(self.folder.glob("json_*"), reverse=True)):
            for folder in sorted(holder.iterdir()) if holder.is_dir() else []:
                if folder.name not in seen and _holds_tasks(folder):
                    seen |= {folder.name} if _has_games(folder) else set()
                    yield folder.name, folder

    def _unknown(self, id: str) -> UsageError:
        example = next(iter(self.splits.values()))[0]
        return UsageError(
            f"there is no game {in_quotes(id, 200)} of ALFWorld in {self.folder}; an id names the folders of task "
            f"and trial, as in {_id(example)}"
        )


def find_data(data: str | None) -> ALFWorldData:
    """Return the data in the folder ``data``, otherwise in $ALFWORLD_DATA or in ALFWorld's default folder.

    Raises: UsageError, which says how to get the data, if no folder is named and the default folder is empty.
    """
    named = data or os.environ.get("ALFWORLD_DATA")
    if named:
        return ALFWorldData(Path(os.path.expandvars(named)).expanduser())
    default = _DEFAULT.expanduser()
    if not default.is_dir() or not any(default.iterdir()):
        raise UsageError(f"there is no data of ALFWorld here; {DOWNLOAD_INSTRUCTIONS}")
    return ALFWorldData(default)


# ------------------------------------------------------------------ folders


def _holds_tasks(folder: Path) -> bool:
    return folder.is_dir() and any(_TASK.fullmatch(entry.name) for entry in folder.iterdir())


def _split_name(folder: Path) -> str:
    """The split that a folder of tasks is: by its name, otherwise by its tasks' rooms."""
    name = folder.resolve().name
    if name in SPLIT_SIZES:
        return name
    rooms = {found[2] for entry in folder.iterdir() if (found := _TASK.fullmatch(entry.name))}
    return "valid_unseen" if rooms <= _UNSEEN_ROOMS else name


def _trials(folder: Path) -> Iterator[Path]:
    """The trials of a split whose task types ALFWorld plays."""
    for task in sorted(folder.iterdir()):
        found = _TASK.fullmatch(task.name)
        if found and found[1] in KINDS_BY_TYPE and "Sliced" not in task.name:
            yield from sorted(entry for entry in task.iterdir() if entry.is_dir() and "Sliced" not in entry.name)


def _playable(folder: Path) -> list[Path]:
    """The trials with a game file; if there are none, those with the two files that a game can be made from."""
    trials = list(_trials(folder))
    made = [trial for trial in trials if (trial / GAME_FILE).exists()]
    return made or [trial for trial in trials if (trial / STATE_FILE).exists() and (trial / TRAJECTORY_FILE).exists()]


def _has_games(folder: Path) -> bool:
    return any((trial / GAME_FILE).exists() for trial in _trials(folder))


def _id(trial: Path) -> str:
    return f"{trial.parent.name}/{trial.name}"


def _task(trial: Path, split: str) -> Task | None:
    """The task of a trial; None if ALFWorld does not play it."""
    found = _TASK.fullmatch(trial.parent.name)
    kind = KINDS_BY_TYPE[found[1]] if found else ""
    try:
        head = game_files.load_header(trial)
        solvable = head.solvable if (trial / GAME_FILE).exists() else _can_be_won(trial)
    except ValueError:
        return Task(_id(trial), "alfworld", kind, "", 0, split)  # reset reports the damage
    return Task(_id(trial), "alfworld", kind, head.goal_text, 0, split) if solvable else None


def _can_be_won(trial: Path) -> bool:
    try:
        return bool(find_walkthrough(game_files.load_game(trial)))
    except ValueError:
        return False
