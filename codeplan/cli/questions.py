"""What a user is asked at a terminal: a plan's question, a call to approve, a call in doubt, or yes and no."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from codeplan.cli.output import without_line
from codeplan.untrusted.texts import echo, echo_message, on_terminal

if TYPE_CHECKING:
    from codeplan.tools.approvals import Always, ProposedCall, User, WayOn


def user_at_terminal() -> User | None:
    """Who answers what plans ask; None: there is no terminal."""
    from codeplan.tools.approvals import User

    return User(ask_at_terminal, patient=True) if on_terminal() else None


def ask_at_terminal(question: str) -> str | None:
    """The user's answer in a line; None at the end of the input."""
    with without_line():
        _discard_typed_text()
        echo_message(question, "You are asked: ", err=True)
        echo("Your answer: ", err=True, end="")
        line = sys.stdin.readline()
    return line.strip() if line else None


def ask_for_approval(call: ProposedCall) -> bool | str | Always:
    """Ask the user about a call. Any other text than the answers of the question is the reason of a refusal."""
    from codeplan.tools.approvals import Always

    answers: dict[str, bool | Always] = {"y": True, "yes": True, "n": False, "no": False, "": False}
    answers |= {"t": Always.ARGUMENTS} if call.why else {"a": Always.TOOL, "t": Always.ARGUMENTS}
    with without_line():
        place = ", ".join(f"{k} {n}" for k, n in (("step", call.step), ("line", call.line)) if n is not None)
        _show_call(f"The plan calls{f' in {place}:' if place else ''}", call.tool, call.arguments)
        if call.hint:
            echo_message(f"The server says: {call.hint}.", err=True)
        if call.why:
            echo_message(f"Your flows ask, because {call.why}.", err=True)
        if call.earlier:
            echo_message(f"Equal calls that were made before it in this episode: {len(call.earlier):,}.", err=True)
        always = "" if call.why else f"[a]lways {call.tool}, "  # what flows ask is about the arguments
        ways = f"[y]es, [n]o, {always}always [t]hese arguments, or a reason to refuse"
        answer = _read_answer(f"Allow it? {ways}: ")
    return answers.get(answer.lower(), answer)


def ask_about_doubt(tool: str, arguments: Mapping[str, Any]) -> WayOn:
    """Ask the user about a call in doubt. Anything but a way on stops, and nothing changes."""
    with without_line():
        _show_call("The episode was ended during a call, and nobody knows whether it was done:", tool, arguments)
        echo_message("retry: make it again; skip: the plan gets an error in its place; stop: decide later", err=True)
        answer = _read_answer("[retry/skip/STOP] ").lower()
    return cast("WayOn", answer) if answer in ("retry", "skip") else "stop"


def _show_call(words: str, tool: str, arguments: Mapping[str, Any]) -> None:
    from codeplan.untrusted.values import call_text

    shown, is_cut = call_text(tool, arguments)
    echo(f"{words} {shown}", err=True)
    if is_cut:
        echo_message("Some of the arguments are too long to show; … stands for what is left out.", err=True)


def confirm(question: str, otherwise: str) -> bool:
    """Whether the user says yes. Raises: UsageError: nobody is there to ask; ``otherwise`` says what to do then."""
    from codeplan.errors import UsageError

    if not on_terminal():
        raise UsageError(f"there is no terminal to ask at; {otherwise}")
    return _read_answer(question).lower() in ("y", "yes")


def _read_answer(question: str) -> str:
    """Ask in a line. What was typed before the question is discarded: a plan can print one like it."""
    _discard_typed_text()
    echo(question, err=True, end="")
    return sys.stdin.readline().strip()


def _discard_typed_text() -> None:
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        import termios

        with contextlib.suppress(termios.error, OSError):
            termios.tcflush(sys.stdin, termios.TCIFLUSH)
