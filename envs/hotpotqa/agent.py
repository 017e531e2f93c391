"""The agent that plans for HotpotQA act through. Its docstrings are the API that a model is shown."""

from __future__ import annotations

from codeplan.protocols import Act
from codeplan.types.task import Observation

_SHOWN = 400
"""Characters of an answer that a report shows."""


class HotpotQAAgent:
    """One who answers a question by reading in an encyclopedia, such as Wikipedia, of which one page is open at a time.

    question is what is asked, answer is what was given with finish, None before that. The answer to a question stands
    on no page alone: one page names what the other is about, or two have to be compared.
    """

    question: str
    answer: str | None

    def __init__(self, act: Act, observation: Observation | None = None) -> None:
        self.question = observation.text.removeprefix("Question: ") if observation else ""
        self.answer = None
        self._act = act
        self._last: tuple[str, str] | None = None

    def search(self, entity: str) -> str:
        """Open the page of this title and return its first five sentences; the page that was open is closed.

        Where there is no such page, the open one stays, and similar titles are listed. Search for a name as a page's
        title has it, not for a question.
        Example: "Ada Lovelace was an English mathematician. She was born in London in 1815..", or
        "Could not find Lovelace. Similar: ['Ada Lovelace', 'Lovelace (crater)']."
        """
        return self._do(f"search[{entity}]")

    def lookup(self, string: str) -> str:
        """Return the next sentence of the open page that has this string in it, small and capital letters alike.

        Call it again with the same string for the sentence after that; a new string, or a new page, begins anew.
        Example: "(Result 1 / 3) She was born in London in 1815..", or "No more results." after the last
        """
        return self._do(f"lookup[{string}]")

    def finish(self, answer: str) -> str:
        """Give the answer, once; this ends the task. Give a name, a number, a date, yes or no, and no sentence.

        Example: agent.finish("London"), agent.finish("1815"), agent.finish("yes")
        """
        self.answer = str(answer)
        return self._do(f"finish[{answer}]")

    def report(self) -> str:
        """Return the question, the last action and what came of it, for the message of an assertion.

        Example: "My question is: Where was she born? Last action: 'search[Ada]'; it answered: 'Could not find Ada. …'"
        """
        state = f"My question is: {self.question or 'not known'}"
        if self._last is None:
            return f"{state} I have not acted yet."
        action, answer = self._last
        shown = answer if len(answer) <= _SHOWN else f"{answer[:_SHOWN]}…"
        return f"{state} Last action: '{action}'; it answered: '{shown.rstrip()}'"

    def _do(self, action: str) -> str:
        self._last = action, self._act(action).text
        return self._last[1]
