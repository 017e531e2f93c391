"""Tells a prompt, within bounds, what the earlier turns of a session said and did. No model sums them up."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, Final

from codeplan.episode.episode import Episode
from codeplan.episode.history import MAX_SHOWN_TURNS, MAX_SHOWN_VALUE, PastTurn
from codeplan.planning.untrusted_feedback import answer_shape, call_shape, shape_text, tag_mark, words_of
from codeplan.recording.events import AnsweredCall
from codeplan.tools.call_texts import shown_call, unpacked
from codeplan.types import ASK_USER, Claimed, Success
from codeplan.untrusted.texts import excerpt, one_line, with_count
from codeplan.untrusted.values import clip_name, value_text, variable_texts

MAX_HISTORY_CHARS: Final = 4_000
"""Maximum length of the turns that a prompt shows with their calls, in characters; the latest may be longer."""

MAX_BRIEF_CHARS: Final = 1_000
"""Maximum length of the lines for older turns, in characters."""

MAX_VARIABLES_CHARS: Final = 2_500
"""Maximum length of the variables that earlier turns left, in characters."""

_MAX_MESSAGE: Final = 2_000  # characters of a message
_MAX_CALLS: Final = 30  # calls of a turn
_MAX_LINE: Final = 90  # characters of an older turn's message
_MAX_VARIABLES: Final = 200  # of earlier turns that are considered
_MAX_STRING: Final = 200  # characters of a text within a variable

_Text = Callable[[Any], str]


def told_history(episode: Episode) -> dict[str, object]:
    """The values of a prompt that tell of the turns before this one; empty where there are none.

    Where flows decide about calls, or prompts are blind, it has shapes in place of data: nobody who wrote a part of
    what tools answered has written to the planner before the plan of this turn.
    """
    history = episode.history
    blind = words_of(episode) if episode.is_blind or episode.has_flows else None
    turns, names = _told_turns(history.turns, blind)
    newest = [*history.variables.items()][: -_MAX_VARIABLES - 1 : -1]
    newest_first = {name: value for name, value in newest if name not in names}
    left = _told_variables(newest_first, blind, _shown_answers(history.turns, len(names)))
    mark = tag_mark(episode.trace.events[0], (*turns, *left)) if turns or left else ""
    told = {"turns": turns, "left_variables": left, "history_mark": mark, "recalls": history.is_long}
    return {**told, "new_tools": episode.new_tools[:_MAX_CALLS]}


def _shown_answers(turns: tuple[PastTurn, ...], count: int) -> dict[str, int]:
    """The texts of answers that the latest turns show, with the numbers of their calls."""
    made = [call for turn in turns[len(turns) - count :] for call in turn.calls[-_MAX_CALLS:] if not call.answer.error]
    return {value_text(unpacked(call.answer.value), MAX_SHOWN_VALUE): call.event.id for call in made}


def _told_turns(turns: tuple[PastTurn, ...], blind: Collection[str] | None) -> tuple[tuple[str, ...], set[str]]:
    """The turns as text, oldest first: the latest with their calls, older ones in a line, the rest counted.

    Also the names of the variables that stand in the text.
    """
    whole: list[str] = []
    brief: list[str] = []
    room, brief_room = MAX_HISTORY_CHARS, MAX_BRIEF_CHARS
    for turn in reversed(turns):
        if not brief and len(whole) < MAX_SHOWN_TURNS:
            text = _turn_text(turn, blind)
            room -= len(text)
            if room >= 0 or not whole:
                whole.append(text)
                continue
        line = f"{turn.number}. User: {one_line(turn.message, _MAX_LINE)}"
        brief_room -= len(line)
        if brief_room < 0:
            brief.append(f"({with_count(turn.number, 'earlier turn')}: agent.recall(words))")
            break
        brief.append(line)
    told = {f"returned_{turn.number}" for turn in turns[len(turns) - len(whole) :]}
    return (*reversed(brief), *reversed(whole)), told


def _turn_text(turn: PastTurn, blind: Collection[str] | None) -> str:
    lines = [f"{turn.number}. User: {excerpt(turn.message, _MAX_MESSAGE)}"]
    lines += [_call_line(made, blind) for made in turn.calls[-_MAX_CALLS:]]
    if len(turn.calls) > _MAX_CALLS:
        lines.insert(1, f"   ({with_count(len(turn.calls) - _MAX_CALLS, 'earlier call')})")
    for call in turn.in_doubt:
        said = shown_call(call) if blind is None else call_shape(call, blind)
        lines.append(f"   {said}: in doubt, nobody knows whether it was done")
    shown = _shown_answers((turn,), 1) if blind is None else {}
    return "\n".join([*lines, _ending_line(turn, blind, shown)])


def _call_line(made: AnsweredCall, blind: Collection[str] | None) -> str:
    if made.call.name == ASK_USER.name and not made.answer.error:
        asked = unpacked((made.call.arguments or {}).get("question"))
        return f"   you asked: {one_line(str(asked), MAX_SHOWN_VALUE)} -> {unpacked(made.answer.value)}"
    if blind is not None:
        return f"   {made.event.id}. {call_shape(made.call, blind)} -> {answer_shape(made.answer, blind)}"
    answer = made.answer
    told = (
        f"raised {answer.error}: {one_line(answer.message, MAX_SHOWN_VALUE)}"
        if answer.error
        else value_text(unpacked(answer.value), MAX_SHOWN_VALUE)
    )
    return f"   {made.event.id}. {shown_call(made.call)} -> {told}"


def _ending_line(turn: PastTurn, blind: Collection[str] | None, shown: Mapping[str, int]) -> str:
    """How the turn ended; a value that a call above has given is named."""
    result = turn.result
    text: _Text = partial(value_text, max_characters=2 * MAX_SHOWN_VALUE)
    if (answer := shown.get(value_text(result.value, MAX_SHOWN_VALUE))) is not None:
        return f"   returned_{turn.number} = <answer {answer}>"
    if blind is not None:
        text = partial(shape_text, words=blind)
    if isinstance(result.ending, Claimed | Success):
        return f"   returned_{turn.number} = {text(result.value)}" if result.value is not None else "   done"
    said = one_line(result.reason, MAX_SHOWN_VALUE) if blind is None else type(result.ending).__name__
    return f"   ended without success: {said}"


def _told_variables(
    variables: Mapping[str, Any], blind: Collection[str] | None, answers: Mapping[str, int]
) -> tuple[str, ...]:
    """The variables as lines ``name = value``, newest first; then the names of those that are not shown.

    ``answers`` are texts that stand in the prompt already, with the numbers of their calls.
    """
    if blind is not None:
        shapes = [f"{clip_name(name)}: {shape_text(value, blind)}" for name, value in variables.items()]
        return tuple(_within(shapes, MAX_VARIABLES_CHARS))
    alone = {name: answers.get(value_text(value, MAX_SHOWN_VALUE)) for name, value in variables.items()}
    same = [f"{clip_name(name)} = <answer {number}>" for name, number in alone.items() if number is not None]
    same = _within(same, MAX_VARIABLES_CHARS // 2)
    variables = {name: value for name, value in variables.items() if alone[name] is None}
    shown = variable_texts(
        variables, MAX_VARIABLES_CHARS, max_each=MAX_SHOWN_VALUE, max_string=_MAX_STRING, counts=True
    )
    lines = [*same, *(f"{clip_name(name)} = {text}" for name, text in shown.texts.items())]
    if shown.unshown:
        more = f" and {shown.unnamed:,} more" if shown.unnamed else ""
        lines.append(f"# there, but not shown: {', '.join(shown.unshown)}{more}")
    return tuple(lines)


def _within(lines: list[str], room: int) -> list[str]:
    kept = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept
