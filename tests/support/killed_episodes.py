"""Episodes that are killed by SIGKILL when their trace has grown to a given size."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from support.killed_plans import killed_episode

from codeplan.runner.episodes import run


def kill_at_sizes(name: str, files: Path, folder: Path, sizes: Sequence[int]) -> None:
    """Play an episode of ``killed_plans`` once for each size of its trace, in ``folder`` / "0" and so on.

    One process forks all that are killed, so that codeplan is imported once.
    """
    given = [name, str(files), str(folder), *map(str, sizes)]
    subprocess.run([sys.executable, "-m", "support.killed_episodes", *given], cwd=Path(__file__).parents[1], check=True)


def _fork_and_kill(name: str, files: Path, folder: Path, size: int) -> None:
    trace = folder / "trace.jsonl"
    child = os.fork()
    if child == 0:
        episode = killed_episode(name, files)
        run(episode.env, episode.task, model=episode.reply, out=folder)
        os._exit(0)
    while os.waitpid(child, os.WNOHANG) == (0, 0):  # until then its number is its own
        if trace.exists() and trace.stat().st_size >= size:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return
        time.sleep(0.0002)


if __name__ == "__main__":
    for number, size in enumerate(sys.argv[4:]):
        _fork_and_kill(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]) / str(number), int(size))
