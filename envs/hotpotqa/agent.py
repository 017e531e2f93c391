"""The agent of HotpotQA plans. Models read its docstrings as the API."""

from __future__ import annotations

import re
from ast import literal_eval

from codeplan.envs.base import ActionLog
from codeplan.protocols import Act
from codeplan.types import Observation

_MAX_REPORTED = 400
"""Characters of an observation in a report."""

_MAX_SENTENCES = 10
"""Sentences that one call of ``lookup_all`` returns at most; each is an action."""

_RESULT = re.compile(r"\(Result (\d{1,6}) / (\d{1,6})\) (.*)", re.DOTALL)
_TITLE = re.compile(r"""'(?:[^'\\]|\\.){0,500}'|"(?:[^"\\]|\\.){0,500}\"""")
_ADDED_STOP = re.compile(r"(?<=[.?!])(?<!\.\.)\.(?= |$)", re.MULTILINE)


class HotpotQAAgent:
    """A reader who answers a question with an encyclopedia such as Wikipedia, one open page at a time.

    question is the question; answer is the answer given with finish, None before that. page is the title of the open
    page, as it was searched for, None before the first. similar lists the titles that the last search offered because
    no page has the title; it is empty after a search that opened a page. No single page holds the answer: either one
    page names what the other is about, or two pages have to be compared. The answer is compared with the right one
    word by word, without capitals, punctuation and articles.
    """

    question: str
    answer: str | None
    page: str | None
    similar: list[str]

    def __init__(self, act: Act, observation: Observation | None = None) -> None:
        self.question = observation.text.removeprefix("Question: ") if observation else ""
        self.answer = None
        self.page = None
        self.similar = []
        self._log = ActionLog(act)
        self._shown: dict[str, dict[int, str]] = {}

    def search(self, entity: str) -> str:
        """Open the page with this title, closing the previous one, and return its first five sentences.

        If there is no such page, the previous page stays open and the attribute similar lists up to five similar
        titles. Search for a name as it appears in a page's title, not for a question.
        Example: agent.search("Budapest") returns "Budapest is the largest city of Hungary. It stands on the Danube …"
        Example: agent.search("Adriatic") returns "Could not find Adriatic. Similar: ['Po']."
        """
        text = self._log.act(f"search[{entity}]")
        offered = _titles_offered(text, str(entity))
        self.similar = offered or []
        if offered is not None:
            return text
        self.page, self._shown = str(entity), {}
        return _without_added_stops(text)

    def lookup(self, string: str) -> str:
        """Return the next sentence of the open page that contains this string, in upper or lower case.

        Call it again with the same string for the next sentence; a new string or a new page starts over.
        Example: agent.lookup("stands on") returns "(Result 1 / 1) It stands on the Danube and …"
        Example: agent.lookup("queen") returns "No more results."
        """
        text = _without_added_stops(self._log.act(f"lookup[{string}]"))
        if found := _RESULT.fullmatch(text):
            self._shown.setdefault(str(string), {})[int(found[1])] = found[3]
        return text

    def lookup_all(self, string: str) -> list[str]:
        """Return the sentences of the open page that contain this string, at most ten; empty if there are none.

        Each sentence that was not shown before counts as one action.
        Example: agent.lookup_all("city") returns ["Budapest is the largest city of Hungary."]
        """
        for _ in range(_MAX_SENTENCES):
            found = _RESULT.fullmatch(self.lookup(string))
            if not found or found[1] == found[2]:
                break
        return [text for _, text in sorted(self._shown.get(str(string), {}).items())][:_MAX_SENTENCES]

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
        return _describe(self.question, self._log)


class PaperHotpotQAAgent:
    """A reader who answers a question with an encyclopedia such as Wikipedia, one open page at a time.

    No single page holds the answer: either one page names what the other is about, or two pages have to be compared.
    The answer is compared with the right one word by word, without capitals, punctuation and articles.
    """

    # the three actions of ReAct (Yao et al., 2023) as methods, with its texts as they are, second full stops included

    def __init__(self, act: Act, observation: Observation | None = None) -> None:
        self._question = observation.text.removeprefix("Question: ") if observation else ""
        self._log = ActionLog(act)

    def search(self, entity: str) -> str:
        """Open the page with this title, closing the previous one, and return its first five sentences.

        If there is no such page, the previous page stays open, and the text lists up to five similar titles.
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
        return self._log.act(f"finish[{answer}]")

    def report(self) -> str:
        """Return the question, the last action and its observation, for use in assertion messages.

        Example: agent.report() returns "My question is: Into which sea does … flow? Last action: 'search[Adriatic]'; it
        answered: 'Could not find Adriatic. …'"
        """
        return _describe(self._question, self._log)


def _describe(question: str, log: ActionLog) -> str:
    return f"My question is: {question or 'not known'} {log.describe_last(shorten=_quote)}"


def _titles_offered(text: str, entity: str) -> list[str] | None:
    """The titles that a search offers in place of ``entity``; None if it opened a page."""
    for name in (entity, f"[{entity}]"):
        if text.startswith(missed := f"Could not find {name}. Similar: ["):
            return list(filter(None, map(_unquote, _TITLE.findall(text[len(missed) :]))))
    return None


def _unquote(title: str) -> str:
    """A title that the environment wrote in quotes; empty if they do not hold one."""
    try:
        return str(literal_eval(title))
    except (ValueError, SyntaxError):
        return ""


def _without_added_stops(text: str) -> str:
    """The text without the full stop that the environment adds, as ReAct does, to a sentence that has its own."""
    return _ADDED_STOP.sub("", text)


def _quote(text: str) -> str:
    return f"'{(text if len(text) <= _MAX_REPORTED else f'{text[:_MAX_REPORTED]}…').rstrip()}'"
