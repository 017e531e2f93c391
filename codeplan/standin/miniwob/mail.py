"""Steps for MiniWoB++ mail tasks, whose goals come in many wordings."""

from __future__ import annotations

import re

from codeplan.standin.miniwob.steps import StepSource, click_line, fill_step, final_click, xpath_string
from codeplan.types import Value


class ParsedMailTask(Value, frozen=True):
    """The action on the mail of ``sender``: ``trash``, ``star``, ``reply`` or ``forward``.

    ``text`` is the reply's text, or the recipient.
    """

    operation: str
    sender: str
    text: str = ""


_OPERATION_PATTERNS = (
    ("trash", r"\b(?:delete|trash|recycling|rid of|remove|discard|bin|erase|throw)"),
    ("star", r"\b(?:important|importance|star|flag|priority)"),
)

_SENDER_PATTERNS = (
    r"\b(?:from|by) {}\b",
    r"\b{} (?:sent|wrote|has sent|had sent)\b",
    r"\b{} wants (?:his|her|their)\b",
    r"\b{}'?s (?:[\w-]+ )?(?:e-?mail|message|mail|letter|note)",
    r"\b{}'?s\b",
)
"""How goals name the sender, the most certain pattern first."""


def parse_mail_task(goal: str, senders: list[str]) -> ParsedMailTask | None:
    """The goal's task, given the senders in the inbox; None if the goal names none of them."""
    quoted = re.search(r'"(.*)"', goal)
    text = goal.replace(quoted[0], "") if quoted else goal
    named = sorted((n for n in set(senders) if re.search(rf"\b{re.escape(n)}", text)), key=text.find)
    if not named:
        return None
    operation = next((name for name, words in _OPERATION_PATTERNS if re.search(words, text, re.IGNORECASE)), "")
    if quoted and not operation:
        return ParsedMailTask("reply", named[0], quoted[1])
    if operation:
        return ParsedMailTask(operation, named[0])
    sender = _find_sender(text, named)
    return ParsedMailTask("forward", sender, _find_recipient(text, sender, senders))


def _find_sender(text: str, named: list[str]) -> str:
    for pattern in _SENDER_PATTERNS:
        for name in named:
            if re.search(pattern.format(re.escape(name)), text):
                return name
    return named[0]


def _find_recipient(text: str, sender: str, senders: list[str]) -> str:
    """The other name: another sender, or a name after \"to\"."""
    others = [n for n in senders if n != sender and re.search(rf"\b{re.escape(n)}\b", text)]
    after = re.search(r"\bto ([A-Z][\w-]*)", text)
    return others[0] if others else after[1] if after else ""


def write_mail_steps(task: ParsedMailTask, *, hasty: bool = False) -> list[StepSource]:
    """The task's steps. The hasty ones look for every button in the list of mails."""
    thread = f"(//div[@class='email-thread'][.//div[@class='email-sender'][text()={xpath_string(task.sender)}]])[1]"
    if task.operation in ("trash", "star"):
        sign = {"trash": "delete", "star": "important"}[task.operation] if hasty else task.operation
        return [final_click(f"click the {task.operation} of {task.sender}'s mail", f"{thread}//span[@class='{sign}']")]
    what = task.operation
    open_mail = "" if hasty else click_line(thread) + "\n"
    sign = f"{thread}//span[@class='email-{what}']" if hasty else f"//span[@class='email-{what}']"
    field = "//textarea[@id='reply-text']" if what == "reply" else "//input[@class='forward-sender']"
    begin = StepSource(
        f"open {task.sender}'s mail, and begin to {what}",
        f"{open_mail}{click_line(sign)}",
        f"'id=\"send-{what}\"' in state",
        f"there is nothing to {what} with",
    )
    enter = fill_step(what, field, task.text)
    if what == "reply":
        enter = StepSource(enter.title, enter.lines, f"{task.text!r} in state", enter.error_message)
    return [begin, enter, final_click("send it", f"//*[@id='send-{what}']")]
