"""How the scripted stand-in does MiniWoB++'s tasks with mail: delete, mark, answer, pass on; told in many ways."""

from __future__ import annotations

import re

from codeplan.standin.miniwob_steps import Move, click, fill, last, quoted
from codeplan.types import Value


class Errand(Value, frozen=True):
    """What is to be done with the mail of ``sender``: ``trash``, ``star``, ``reply`` or ``forward`` it.

    ``words`` are those of the answer, or the one to whom it is passed on.
    """

    act: str
    sender: str
    words: str = ""


_ACTS = (
    ("trash", r"\b(?:delete|trash|recycling|rid of|remove|discard|bin|erase|throw)"),
    ("star", r"\b(?:important|importance|star|flag|priority)"),
)

_FROM = (
    r"\b(?:from|by) {}\b",
    r"\b{} (?:sent|wrote|has sent|had sent)\b",
    r"\b{} wants (?:his|her|their)\b",
    r"\b{}'?s (?:[\w-]+ )?(?:e-?mail|message|mail|letter|note)",
    r"\b{}'?s\b",
)
"""How the one is told who has sent a mail, the surest first."""


def understand(goal: str, senders: list[str]) -> Errand | None:
    """The errand that a goal sets, where mail of these senders is there; None where none of them is named in it."""
    said = re.search(r'"(.*)"', goal)
    told = goal.replace(said[0], "") if said else goal
    named = sorted((n for n in set(senders) if re.search(rf"\b{re.escape(n)}", told)), key=told.find)
    if not named:
        return None
    act = next((act for act, pattern in _ACTS if re.search(pattern, told, re.IGNORECASE)), "")
    if said and not act:
        return Errand("reply", named[0], said[1])
    if act:
        return Errand(act, named[0])
    sender = _sender(told, named)
    return Errand("forward", sender, _recipient(told, sender, senders))


def _sender(told: str, named: list[str]) -> str:
    for pattern in _FROM:
        for name in named:
            if re.search(pattern.format(re.escape(name)), told):
                return name
    return named[0]


def _recipient(told: str, sender: str, senders: list[str]) -> str:
    """The other name: of one whose mail is there, or after a word that says so."""
    others = [n for n in senders if n != sender and re.search(rf"\b{re.escape(n)}\b", told)]
    after = re.search(r"\bto ([A-Z][\w-]*)", told)
    return others[0] if others else after[1] if after else ""


def moves(errand: Errand, *, hasty: bool = False) -> list[Move]:
    """The hasty one looks for every sign in the list of mails."""
    thread = f"(//div[@class='email-thread'][.//div[@class='email-sender'][text()={quoted(errand.sender)}]])[1]"
    if errand.act in ("trash", "star"):
        sign = {"trash": "delete", "star": "important"}[errand.act] if hasty else errand.act
        return [last(f"click the {errand.act} of {errand.sender}'s mail", f"{thread}//span[@class='{sign}']")]
    what = errand.act
    open_mail = "" if hasty else click(thread) + "\n"
    sign = f"{thread}//span[@class='email-{what}']" if hasty else f"//span[@class='email-{what}']"
    field = "//textarea[@id='reply-text']" if what == "reply" else "//input[@class='forward-sender']"
    begin = Move(
        f"open {errand.sender}'s mail, and begin to {what}",
        f"{open_mail}{click(sign)}",
        f"'id=\"send-{what}\"' in state",
        f"there is nothing to {what} with",
    )
    enter = fill(what, field, errand.words)
    if what == "reply":
        enter = Move(enter.why, enter.lines, f"{errand.words!r} in state", enter.fault)
    return [begin, enter, last("send it", f"//*[@id='send-{what}']")]
