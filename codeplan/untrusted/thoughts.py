"""Where a model's reasoning stands within its text, in the marks of models whose servers leave them there.

All of it is linear in the length of the text.
"""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = "(?:[a-z]++:)?(?:think(?:ing)?|thoughts?|reasoning)"
_MARKS: Final = (
    (f"(?i:<{_NAME}>)", f"(?i:</{_NAME}>)"),  # DeepSeek, Qwen, Gemma; with a prefix MiniMax and Seed
    (r"\[THINK\]", r"\[/THINK\]"),  # Mistral
    ("◁think▷", "◁/think▷"),  # Kimi
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),  # Cohere
    (r"<\|channel>thought\b", r"<channel\|>"),  # Gemma 4
)
"""The marks before and after a thought, for each family of models."""

_UNQUOTED: Final = r"(?<![`'\"])"
_OPENING = re.compile(r"\s*+(?:" + "|".join(f"({opening})" for opening, _ in _MARKS) + ")")
_CLOSINGS = [re.compile(f"{_UNQUOTED}{closing}") for _, closing in _MARKS]

THOUGHT_START: Final = re.compile("|".join(opening for opening, _ in _MARKS))
"""The mark before a thought."""

THOUGHT_END: Final = re.compile(f"{_UNQUOTED}(?:{'|'.join(closing for _, closing in _MARKS)})")
"""The mark behind a thought. In quotes it is part of an answer."""

_NESTED = re.compile(f"{_UNQUOTED}(?:{THOUGHT_START.pattern})")

_CHANNEL = re.compile(r"<\|channel\|>([^<]*+)(?:<\|constrain\|>[^<]*+)?<\|message\|>")
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_FIRST_CHANNEL = re.compile(r"\s*+(?:<\|start\|>assistant)?+[^<]{0,40}<\|channel\|>")
_BARE_ANALYSIS = re.compile(r"\s*+analysis(?=[A-Z\"'])")
_BARE_FINAL: Final = "assistantfinal"

_TOKENS_IN_FRONT = re.compile(rf"\s*+(?:(?!{_MARKS[3][0]}|{_MARKS[4][0]})<\|\w{{1,30}}+\|>(?:assistant\b)?+\s*+)++")
_TOKEN_AT_END = re.compile(r"(?:<[|｜][\w▁]{1,30}+[|｜]>|<end_of_turn>|<eos>|</s>)\Z")
_MAX_TOKEN_CHARS: Final = 40
_MAX_TOKENS_AT_END: Final = 8


def split_thoughts(text: str | None) -> tuple[str | None, str]:
    """The text without the reasoning at its start and without the control tokens around it, and that reasoning.

    The text is None if nothing else is left.
    """
    if text is None:
        return None, ""
    said, channels = _split_channels(text)
    if said is None:
        return None, channels
    bare = _without_tokens(said)
    if bare != text and not bare.strip():
        return None, channels
    rest, thought = _split_marked(bare)
    return rest if rest is None else _without_tokens(rest), "\n".join(filter(None, (channels, thought)))


def without_channels(text: str) -> str:
    """The text of the channel that is for the user, if the text has channels; otherwise all of it."""
    said, _ = _split_channels(text)
    return said or ""


def _split_marked(text: str) -> tuple[str | None, str]:
    opening = _OPENING.match(text)
    closing = (_CLOSINGS[(opening.lastindex or 1) - 1] if opening else THOUGHT_END).search(
        text, opening.end() if opening else 0
    )
    if not (opening or closing):
        return text, ""
    thought = text[opening.end() if opening else 0 : closing.start() if closing else len(text)]
    if closing is None:
        return None, thought
    if _NESTED.search(thought):
        return (None, thought) if opening else (text, "")
    rest = text[closing.end() :].lstrip()
    return (rest if rest and not _OPENING.match(rest) else None), thought


def _split_channels(text: str) -> tuple[str | None, str]:
    """The text for the user, and the other channels' text, if the reply is in gpt-oss' channels.

    A server that drops the tokens leaves the channels' names. Without a final channel, the last commentary counts: it
    holds the arguments of a call, such as code.
    """
    if _BARE_ANALYSIS.match(text) and _BARE_FINAL in text:
        before, _, answer = text.partition(_BARE_FINAL)
        return answer, before.strip().removeprefix("analysis")
    if not _FIRST_CHANNEL.match(text):
        return text, ""
    channels: list[tuple[str, str]] = []
    for head in _CHANNEL.finditer(text):
        end = _CHANNEL_END.search(text, head.end())
        channels.append((head[1].split(" ")[0].strip(), text[head.end() : end.start() if end else len(text)]))
    if not channels:
        return text, ""
    finals = [said for name, said in channels if name == "final"]
    others = [said for name, said in channels if name == "commentary"]
    said = "".join(finals) or (others[-1] if others else None)
    return said, "\n".join(told for name, told in channels if name not in ("final", "commentary"))


def _without_tokens(text: str) -> str:
    """The text without the control tokens before and behind it, which some servers do not take off."""
    if front := _TOKENS_IN_FRONT.match(text):
        text = text[front.end() :]
    for _ in range(_MAX_TOKENS_AT_END):
        bare = text.rstrip()
        token = _TOKEN_AT_END.search(bare, max(0, len(bare) - _MAX_TOKEN_CHARS))
        if token is None or (token[0] == "</s>" and "<s>" in bare):
            break
        text = bare[: token.start()].rstrip()
    return text
