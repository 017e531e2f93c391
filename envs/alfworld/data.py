"""Where ALFWorld's data lies, which splits and games there are in it, and what is wrong with it.

A folder of data holds ``json_2.1.1`` (or a later number), in it ``valid_unseen``, ``valid_seen`` and ``train``, and in
these a folder for each task with a folder for each of its trials. Any of these folders above the tasks' may be given.
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
from codeplan.types.task import Task

SPLIT_SIZES = {"valid_unseen": 134, "valid_seen": 140, "train": 3553}
"""The splits of ALFWorld's data, with the number of their games."""

DOWNLOAD_INSTRUCTIONS = (
    "run: pip install alfworld && alfworld-download; this puts it into ~/.cache/alfworld, where it is found, or into "
    "$ALFWORLD_DATA; any other folder is named with --data FOLDER, in Python with data=FOLDER"
)

_DEFAULT = Path("~/.cache/alfworld")
_TASK = re.compile(r"([a-z_]+)-[^-]+-[^-]*-[^-]*-(\d+)")
"""A task's folder: its type, its object, its movable receptacle, its receptacle, the number of its room."""

_UNSEEN_ROOMS = {"10", "219", "308", "424"}
"""The rooms of valid_unseen, which no other split has."""


class ALFWorldData:
    """A folder of ALFWorld's data. It is looked into when it is asked for something, and nothing is written to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def splits(self) -> dict[str, list[Path]]:
        """The trials of each split that can be played or might, in order of their ids; the usual splits first.

        Raises UsageError where the folder is none, or holds no games.
        """
        if not self.folder.is_dir():
            raise UsageError(f"there is no folder {self.folder} with ALFWorld's data; {DOWNLOAD_INSTRUCTIONS}")
        found = {name: trials for name, folder in self._folders() if (trials := _playable(folder))}
        if not found:
            raise UsageError(
                f"there are no games of ALFWorld in {self.folder}; name the one that holds json_2.1.1, valid_unseen, "
                f"or the folders of the tasks; to get the data, {DOWNLOAD_INSTRUCTIONS}"
            )
        return {name: found[name] for name in sorted(found, key=lambda n: (*SPLIT_SIZES, n).index(n))}

    def tasks(self, split: str) -> list[Task]:
        """The games of a split that ALFWorld plays, as tasks; a damaged one is among them, without its goal."""
        return [task for trial in self.splits.get(split, []) if (task := _task(trial, split))]

    def trial_folder(self, id: str) -> Path:
        """The folder of a task's trial, solvable or not. Raises UsageError where there is none."""
        if not re.fullmatch(r"[^/\\\0]+/[^/\\\0]+", id) or ".." in id:
            raise self._unknown(id)
        for trial in (folder / id for _, folder in self._folders()):
            if (trial / GAME_FILE).exists() or ((trial / STATE_FILE).exists() and (trial / TRAJECTORY_FILE).exists()):
                return trial
        raise self._unknown(id)

    def faults(self) -> Iterator[str]:
        """What is wrong with the data: a sentence for each file, which names it. Reads every game whole."""
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
        """What there is, in a line each: the folder, and how the splits compare with the whole data."""
        lines = [f"data    {self.folder}"]
        for name in self.splits:
            there, whole = len(self.tasks(name)), SPLIT_SIZES.get(name)
            left = len(self.splits[name]) - there
            of = f" of the {whole:,} games of the whole data" if whole else " games"
            skipped = f"; {left:,} more are not played, being unsolvable or not known to be solvable" if left else ""
            lines.append(f"{name}  {there:,}{of}{skipped}")
        return lines

    def _folders(self) -> Iterator[tuple[str, Path]]:
        """The splits' names and folders. Where several releases have one, the latest that has games in it counts."""
        if _holds_tasks(self.folder):
            yield _name_of(self.folder), self.folder
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
            f"there is no game {id[:200]!r} of ALFWorld in {self.folder}; an id names the folders of its task and "
            f"trial, as in {_id(example)}"
        )


def find_data(data: str | None) -> ALFWorldData:
    """The data in the folder that is named, else in $ALFWORLD_DATA, else where ALFWorld puts it.

    Raises UsageError, which says how to get the data, where no folder is named and there is none.
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


def _name_of(folder: Path) -> str:
    """The name of a split that was given as a folder of its own."""
    name = folder.resolve().name
    if name in SPLIT_SIZES:
        return name
    rooms = {found[2] for entry in folder.iterdir() if (found := _TASK.fullmatch(entry.name))}
    return "valid_unseen" if rooms <= _UNSEEN_ROOMS else name


def _trials(folder: Path) -> Iterator[Path]:
    """The trials of a split whose tasks are of a type that ALFWorld plays."""
    for task in sorted(folder.iterdir()):
        found = _TASK.fullmatch(task.name)
        if found and found[1] in KINDS_BY_TYPE and "Sliced" not in task.name:
            yield from sorted(entry for entry in task.iterdir() if entry.is_dir() and "Sliced" not in entry.name)


def _playable(folder: Path) -> list[Path]:
    """The trials that have a game; in data that was never made into games, those that one can be made of."""
    trials = list(_trials(folder))
    made = [trial for trial in trials if (trial / GAME_FILE).exists()]
    return made or [trial for trial in trials if (trial / STATE_FILE).exists() and (trial / TRAJECTORY_FILE).exists()]


def _has_games(folder: Path) -> bool:
    return any((trial / GAME_FILE).exists() for trial in _trials(folder))


def _id(trial: Path) -> str:
    return f"{trial.parent.name}/{trial.name}"


def _task(trial: Path, split: str) -> Task | None:
    """The task of a trial; None where ALFWorld does not play it."""
    found = _TASK.fullmatch(trial.parent.name)
    kind = KINDS_BY_TYPE[found[1]] if found else ""
    try:
        head = game_files.load_header(trial)
        solvable = head.solvable if (trial / GAME_FILE).exists() else _can_be_won(trial)
    except ValueError:
        return Task(_id(trial), "alfworld", kind, "", 0, split)  # playing it says what is wrong
    return Task(_id(trial), "alfworld", kind, head.goal_text, 0, split) if solvable else None


def _can_be_won(trial: Path) -> bool:
    try:
        return bool(find_walkthrough(game_files.load_game(trial)))
    except ValueError:
        return False
