"""The conversation in which a plan is written and refined, within a bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codeplan.planning.prompt_sizes import MAX_CONVERSATION_CHARS
from codeplan.types import Message, Value


class ConversationTurn(Value, frozen=True):
    """One reply of the model, and the report on its plan.

    ``reply`` is the program in the reply, ``plan`` the whole plan that resulted from it, ``told`` the report on the
    plan's run that the model received, and ``summary`` that report in one line.
    """

    reply: str
    plan: str
    told: str
    summary: str


class PlanConversation:
    """The messages of the conversation: two that state the task, then each reply with the report on it.

    Messages that were sent do not change, so that endpoints' prefix caches hit. When the turns exceed
    MAX_CONVERSATION_CHARS, the oldest are dropped until the rest takes half of that. The first remaining reply is then
    replaced by the whole plan of that time.
    """

    def __init__(self, opening: Sequence[Message]) -> None:
        self._opening = list(opening)
        self._turns: list[ConversationTurn] = []
        self._dropped: list[str] = []

    def add(self, turn: ConversationTurn, tell: Callable[[Sequence[str]], str]) -> None:
        """Add a turn. If older turns are dropped for it, ``tell`` makes its text from one line for each dropped
        turn.
        """
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
        """The messages up to the latest report."""
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
