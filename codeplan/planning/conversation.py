"""The conversation in which a plan is written and refined, within a bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codeplan.planning.prompt_sizes import MAX_CONVERSATION_CHARS
from codeplan.types import Message, Value


class ConversationTurn(Value, frozen=True):
    """One reply of the model, and what the model was told about its plan.

    ``reply`` is the program in the reply, ``plan`` the whole plan that it led to, ``told`` what the model was told of
    the plan's run, and ``summary`` the same in a line.
    """

    reply: str
    plan: str
    told: str
    summary: str


class PlanConversation:
    """The messages from the task on: its two, then each reply with what the model was told of it.

    What was sent once stays the same, so that endpoints' prefix caches hit. When the turns are longer than
    MAX_CONVERSATION_CHARS, the oldest are dropped until the rest takes half of that; the first reply that stays is then
    replaced by the whole plan of that time.
    """

    def __init__(self, opening: Sequence[Message]) -> None:
        self._opening = list(opening)
        self._turns: list[ConversationTurn] = []
        self._dropped: list[str] = []

    def add(self, turn: ConversationTurn, tell: Callable[[Sequence[str]], str]) -> None:
        """Add a turn. If others are dropped for it, ``tell`` makes its text, given all dropped turns in a line each."""
        self._turns.append(turn)
        if self._length <= MAX_CONVERSATION_CHARS:
            return
        while len(self._turns) > 1 and self._length > MAX_CONVERSATION_CHARS // 2:
            self._dropped.append(self._turns.pop(0).summary)
        if self._dropped:
            newest = self._turns[-1]
            self._turns[-1] = ConversationTurn(newest.reply, newest.plan, tell(self._dropped), newest.summary)

    @property
    def messages(self) -> list[Message]:
        """The messages up to what the model was told last."""
        messages: list[Message] = list(self._opening)
        for number, turn in enumerate(self._turns):
            program = turn.plan if number == 0 and self._dropped else turn.reply
            fenced = f"```python\n{program.strip() or '# no program'}\n```"
            messages.append({"role": "assistant", "content": fenced})
            messages.append({"role": "user", "content": turn.told})
        return messages

    @property
    def _length(self) -> int:
        return sum(len(turn.reply) + len(turn.told) for turn in self._turns)
