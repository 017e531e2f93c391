"""A small environment for tests: three boxes, and a ball in the one whose number is the task's seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codeplan.errors import ModelError
from codeplan.types import ActionSpace, Completion, Message, Observation, Task


class BoxAgent:
    """Looks for the ball."""

    opened: list[int]

    def __init__(self, act: Callable[[str], Observation]) -> None:
        self._act = act
        self.opened = []

    def open(self, box: int) -> str:
        """Open a box by its number, 1 to 3. Returns 'It is empty.' or 'Here is the ball!'"""
        self.opened.append(box)
        return self._act(f"open {box}").text

    def report(self) -> str:
        """Which boxes were opened so far."""
        return f"Opened so far: {self.opened}."


class Boxes:
    """An environment of one kind of task; ``max_actions`` actions end it without success."""

    name = "boxes"
    agent = BoxAgent

    def __init__(self, max_actions: int = 50) -> None:
        self.max_actions = max_actions
        self.actions: list[str] = []

    def tasks(self, split: str) -> list[Task]:
        return [Task(f"ball/{n}", "boxes", "find", "find the ball", n, split) for n in (1, 2, 3)]

    def reset(self, task: Task) -> Observation:
        self.ball, self.actions = task.seed, []
        return Observation("There are the boxes 1, 2 and 3. Find the ball.")

    def step(self, action: str) -> Observation:
        self.actions.append(action)
        found = action == f"open {self.ball}"
        text = "Here is the ball!" if found else "It is empty."
        return Observation(text, float(found), found or len(self.actions) >= self.max_actions, found)

    def close(self) -> None:
        pass


class BoxesInWords(Boxes):
    """The boxes for models that write actions themselves."""

    space = ActionSpace(forms=("open NUMBER",), no_effect_prefixes=("It is empty",), calls=6, max_idle_turns=3)


class Replies:
    """A model that gives the replies it was made with, in order, and keeps what it was asked."""

    name = "replies"

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[str, Sequence[Message]]] = []

    def complete(
        self, messages: Sequence[Message], *, purpose: str, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        self.asked.append((purpose, messages))
        if not self.replies:
            raise ModelError(f"no reply is left for {purpose}")
        return Completion(self.replies.pop(0))

    @property
    def purposes(self) -> list[str]:
        return [purpose for purpose, _ in self.asked]
