"""The agent of HotpotQA plans. Models read its docstrings as the API."""

from __future__ import annotations

from codeplan.envs.base import ActionLog
from codeplan.protocols import Act
from codeplan.types import Observation

_MAX_REPORTED = 400
"""Characters of an observation in a report."""


class HotpotQAAgent:
    """A reader who answers a question with an encyclopedia such as Wikipedia, one open page at a time.

    question is the question; answer is the answer given with finish, None before that. No single page holds the
    answer: either one page names what the other is about, or two pages have to be compared.
    """

    question: str
    answer: str | None

    def __init__(self, act: Act, observation: Observation | None = None) -> None:
        self.question = observation.text.removeprefix("Question: ") if observation else ""
        self.answer = None
        self._log = ActionLog(act)

    def search(self, entity: str) -> str:
        """Open the page with this title, closing the previous one, and return its first five sentences.

        If there is no such page, the previous page stays open and similar titles are listed. Search for a name as it
        appears in a page's title, not for a question.
        Example: agent.search("Budapest") returns "Budapest is the largest city of Hungary. It stands on the Danube …"
        Example: agent.search("Adriatic") returns "Could not find Adriatic. Similar: ['Po']."
        """
        return self._log.act(f"search[{entity}]")

    def lookup(self, string: str) -> str:
        """Return the next sentence of the open page that contains this string, in upper or lower case.

        Call it again with the same string for the next sentence; a new string or a new page starts over.
        Example: agent.lookup("stands on") returns "(Result 1 / 1) It stands on the Danube and …"
        Example: agent.lookup("queen") returns "No more results."
        """
        return self._log.act(f"lookup[{string}]")

    def finish(self, answer: str) -> str:
        """Give the answer; this ends the task. Give a name, a number, a date, yes or no, not a sentence.

        Example: agent.finish("Black Sea") returns "Episode finished, reward = 1"
        """
        self.answer = str(answer)
        return self._log.act(f"finish[{answer}]")

    def report(self) -> str:
        """Return the question, the last action and its observation, for use in assertion messages.

        Example: agent.report() returns "My question is: Into which sea does … flow? Last action: 'search[Adriatic]'; it
        answered: 'Could not find Adriatic. …'"
        """
        return f"My question is: {self.question or 'not known'} {self._log.describe_last(shorten=_quote)}"


def _quote(text: str) -> str:
    return f"'{(text if len(text) <= _MAX_REPORTED else f'{text[:_MAX_REPORTED]}…').rstrip()}'"
