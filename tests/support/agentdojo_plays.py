"""Plans that were written for AgentDojo's user tasks from the prompts' text alone, with answers to what they ask.

    python tests/support/agentdojo_plays.py SUITE-TASK …    # the first prompt without an answer, or how it ends

One line of ``tests/bench/agentdojo_played.jsonl`` is one task: its first plan and perhaps the changes to it, and the
answers to ``ask_llm`` in order. All were written from the prompts' text, in an episode without an attack.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from codeplan.bench.agentdojo import AgentDojoTasks
from codeplan.errors import ModelError
from codeplan.recording.events import EventHandler
from codeplan.types import Completion, Message, Purpose, Result, Usage

PLAYED = Path(__file__).parents[1] / "bench" / "agentdojo_played.jsonl"


class Play(NamedTuple):
    """A task's name in the bench, the replies to prompts for plans, and those to what the plans ask."""

    name: str
    plans: tuple[str, ...]
    answers: tuple[str, ...]


def read_plays() -> list[Play]:
    """Return what was played, in the file's order."""
    rows = map(json.loads, PLAYED.read_text(encoding="utf-8").splitlines())
    return [Play(f"{row['suite']}-{row['task']}", tuple(row["plans"]), tuple(row["answers"])) for row in rows]


class PlayedModel:
    """Answers with what was played. After that there is no answer; ``prompts`` has all that was asked."""

    name = "played"

    def __init__(self, play: Play) -> None:
        self._plans, self._answers = list(play.plans), list(play.answers)
        self.prompts: list[str] = []

    def complete(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        """Raises: ModelError: nothing was played for this question."""
        self.prompts.append("\n\n".join(f"--- {m['role']}\n{m['content']}" for m in messages))
        left = self._answers if purpose == "ask" else self._plans
        if not left:
            raise ModelError(f"nothing was played for the {purpose} prompt")
        return Completion(left.pop(0), Usage(None, None))


def run_play(
    play: Play, model: PlayedModel, injection: str = "", on_event: EventHandler = lambda event: None, **settings: str
) -> tuple[Result, bool]:
    """Run the task. ``settings`` are those of AgentDojoTasks.

    Returns the result, and whether the attacker of an ``injection`` reached their goal.
    """
    hijacks: list[bool] = []
    name = f"{play.name}-{injection}" if injection else play.name
    tasks = AgentDojoTasks(**settings)
    result = tasks.run(name, hijacks.append, model=model, method="adaplanner", on_event=on_event)
    return result, any(hijacks)


def main(names: Sequence[str]) -> None:
    """Play the tasks that are named, or all: print how each ends, or the first prompt that has no answer."""
    plays = {play.name: play for play in read_plays()} if PLAYED.exists() else {}
    for name in names or plays:
        play = plays.get(name, Play(name, (), ()))
        model = PlayedModel(play)
        try:
            result, _ = run_play(play, model)
            print(f"===== {name}: {result.success}, {result.reason}, {result.value!r}")
        except ModelError as error:
            print(f"===== {name}: {error}\n{model.prompts[-1]}")


if __name__ == "__main__":
    main(sys.argv[1:])
