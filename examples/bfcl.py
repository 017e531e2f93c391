"""Plays conversations of the Berkeley Function Calling Leaderboard (multi_turn) through ``codeplan.Session``.

    pip install --no-deps bfcl-eval mpmath
    python examples/bfcl.py --model gpt-5 --out runs/bfcl

Each conversation has tools with a state, and messages of a user that follow one another. The leaderboard's own checker
compares the state and the answers with those that the task's author expects. Prints a line for each conversation, then
the sums; ``--ids`` chooses conversations, and the default is eight of each of the four kinds.
"""

from __future__ import annotations

import argparse
import copy
import importlib
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import bfcl_eval
from bfcl_eval.constants.executable_backend_config import CLASS_FILE_PATH_MAPPING, STATELESS_CLASSES
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import multi_turn_checker

import codeplan
from codeplan.recording.events import CallAnswered, CallBegun
from codeplan.types import NeedsInput

DATA = Path(bfcl_eval.__file__).parent / "data"
KINDS = ("base", "miss_func", "miss_param", "long_context")
FEWER = 25
"""Of how many conversations one is played, unless ``--ids`` chooses."""

NEW_TOOLS = "I have updated some more functions you can choose from. What about now?"
"""The leaderboard's own message where tools are added."""


class Conversation(NamedTuple):
    """A conversation with the calls that its author expects in each turn."""

    id: str
    entry: dict[str, Any]
    expected: list[list[str]]

    @property
    def messages(self) -> list[str]:
        """What the user says, turn by turn."""
        return ["\n".join(m["content"] for m in turn) or NEW_TOOLS for turn in self.entry["question"]]


class ConversationOutcome(NamedTuple):
    """How a conversation went: the checker's verdict, and what it used."""

    id: str
    won: bool
    why: str
    turns: int
    model_calls: int
    input_tokens: int
    output_tokens: int


def conversations(ids: Iterable[str] = ()) -> Iterator[Conversation]:
    """The conversations with these ids; without ids, one of FEWER of each kind."""
    wanted = set(ids)
    for kind in KINDS:
        name = f"BFCL_v4_multi_turn_{kind}.json"
        answers = {row["id"]: row["ground_truth"] for row in _rows(DATA / "possible_answer" / name)}
        for at, entry in enumerate(_rows(DATA / name)):
            if entry["id"] in wanted or (not wanted and at % FEWER == 0):
                yield Conversation(entry["id"], entry, answers[entry["id"]])


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def make_tools(conversation: Conversation) -> list[Any]:
    """The objects whose methods are the conversation's tools, in the state in which it begins."""
    made = []
    for name in conversation.entry["involved_classes"]:
        tool = getattr(importlib.import_module(CLASS_FILE_PATH_MAPPING[name]), name)()
        if name not in STATELESS_CLASSES:
            state = copy.deepcopy(conversation.entry["initial_config"].get(name, {}))
            tool._load_scenario(state, long_context="long_context" in conversation.id)
        made.append(tool)
    return made


def offered_tools(objects: list[Any], conversation: Conversation, turn: int) -> list[Callable[..., Any]]:
    """The methods that the user offers in this turn."""
    missing = conversation.entry.get("missed_function", {})
    hidden = {name for at, names in missing.items() if turn < int(at) for name in names}
    hidden |= set(conversation.entry.get("excluded_function", ()))
    names = ((tool, name) for tool in objects for name in dir(type(tool)))
    return [getattr(t, n) for t, n in names if not n.startswith("_") and n not in hidden and callable(getattr(t, n))]


def play(conversation: Conversation, model: Any, folder: Path, **options: Any) -> ConversationOutcome:
    """Play one conversation in a session of its own."""
    objects = make_tools(conversation)
    results, made = [], []
    with codeplan.Session(
        tools=offered_tools(objects, conversation, 0), model=model, folder=folder, error_if="error", **options
    ) as session:
        for turn, message in enumerate(conversation.messages):
            asks = bool(results) and isinstance(results[-1].ending, NeedsInput)
            if asks and message != NEW_TOOLS:
                results[-1] = session.answer(message)  # it goes on in the same turn
            else:
                added = offered_tools(objects, conversation, turn) if message == NEW_TOOLS else None
                results.append(session.do(message, tools=added))
            made.append(_calls(folder)[sum(map(len, made)) :])
    verdict = multi_turn_checker(
        [[[call] for call in turn] for turn in made],
        conversation.expected,
        conversation.entry,
        conversation.id.rsplit("_", 1)[0],
        f"codeplan-{id(session)}",
    )
    usage = [result.usage for result in results]
    return ConversationOutcome(
        conversation.id,
        bool(verdict["valid"]),
        str(verdict.get("error_message", "")),
        len(made),
        sum(result.model_calls for result in results),
        sum(each.input_tokens or 0 for each in usage),
        sum(each.output_tokens or 0 for each in usage),
    )


def _calls(folder: Path) -> list[str]:
    """The session's calls so far, as Python, without questions to the user."""
    events = codeplan.Trace.read(folder / "trace.jsonl")
    begun = {event.id: event.call for event in events if isinstance(event, CallBegun)}
    answered = [begun[event.id] for event in events if isinstance(event, CallAnswered)]
    return [_as_python(call) for call in answered if call.name != "ask_user"]


def _as_python(call: Any) -> str:
    return f"{call.name}({', '.join(f'{name}={value!r}' for name, value in (call.arguments or {}).items())})"


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="an endpoint's model")
    parser.add_argument("--out", type=Path, required=True, help="a new folder for the traces")
    parser.add_argument("--ids", nargs="*", default=(), help="conversations, such as multi_turn_base_0")
    given = parser.parse_args()
    played = []
    for conversation in conversations(given.ids):
        played.append(play(conversation, given.model, given.out / conversation.id))
        print(f"{played[-1].id}: {'won' if played[-1].won else f'lost ({played[-1].why})'}", flush=True)
    turns = sum(each.turns for each in played)
    print(f"{sum(each.won for each in played)} of {len(played)} won in {turns} turns")
    for what in ("model_calls", "input_tokens", "output_tokens"):
        print(f"{what} in a turn: {sum(getattr(each, what) for each in played) / turns:,.2f}")


if __name__ == "__main__":
    main()
