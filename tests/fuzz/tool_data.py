"""Tools: recorded episodes with them, the servers that offer them, and the calls that plans make."""

from __future__ import annotations

import json
import random
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
from confinement import Watch, judge_sentence
from mutation import as_json, mutate_bytes, mutate_tree, odd_value
from support.boxes import Replies

import codeplan
from codeplan.errors import AgentError, CodeplanError
from codeplan.plain_data import NotPlainData, unpack
from codeplan.tools.mcp.content import FileStore, read_result
from codeplan.tools.mcp.signatures import ArgumentCheck, TypeTable, UnusableTool, write_signature
from codeplan.tools.results import pack_result
from codeplan.types import Answer, Call
from codeplan.untrusted.values import shown_answer, shown_call

Lines = list[Any]

_PLAN: Final = """```python
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] look')
        found = agent.look('a', 'b', limit=2, more=3)
    if start_from <= 2:
        print('[Step 2] remove')
        {body}
        return found
```"""
_STEP: Final = "```python\nif start_from <= 2:\n    print('[Step 2] leave it')\n    return found\n```"


def look(name: str, *others: str, limit: int = 5, **more: int) -> dict[Any, Any]:
    """What has a name, up to a limit."""
    return {"name": name, "others": others, 3: limit, "more": more}


def remove(name: str) -> None:
    """Remove what has a name."""
    raise KeyError(name)


@cache
def recorded() -> tuple[Lines, ...]:
    """The events of episodes with tools, as plain data."""
    fails, asks = _PLAN.format(body="agent.remove('b')"), _PLAN.format(body="replan('nothing is left')")
    options: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
        ((fails, _STEP), {"verify": lambda value, tools: value["name"] == "a"}),
        ((asks, fails, _STEP), {"ask": ["look"], "approve": lambda call: True, "deny": ["rem*"]}),
        ((_PLAN.format(body="found = [found] * 3"), _STEP), {"verify": lambda value, tools: "it is a list"}),
        ((fails,), {"tool_errors": "stop"}),
    )
    with tempfile.TemporaryDirectory() as folder:
        return tuple(_record(Path(folder) / str(at), replies, given) for at, (replies, given) in enumerate(options))


def _record(folder: Path, replies: tuple[str, ...], options: dict[str, Any]) -> Lines:
    model = Replies(*replies)
    codeplan.do("tidy up", tools=[look, remove], model=model, tries=len(replies), out=folder, **options)
    return [msgspec.json.decode(line) for line in (folder / "trace.jsonl").read_bytes().splitlines()]


_COMMANDS: Final = (
    ("replay", "run"),
    ("replay", "run"),
    ("replay", "run", "--json"),
    ("resume", "run", "-q"),
    ("fork", "run", "--at", "5", "--out", "branch", "-q"),
    ("new-test", "run", "-o", "tests"),
    ("report", "run", "-o", "page.html"),
    ("skills", "add", "run", "--library", "library", "--out", "proof"),
)


def judge_tool_trace(pick: random.Random, watch: Watch) -> None:
    """A stranger's episode with tools, opened with one of the commands that read traces."""
    with watch.example():
        events = list(pick.choice(recorded()))
        for _ in range(pick.choice([1, 1, 2])):
            at = pick.choice([0, pick.randrange(len(events))])
            events[at] = _changed_event(pick, events[at])
        data = b"".join(as_json(event) + b"\n" for event in events)
        watch.write("run/trace.jsonl", mutate_bytes(pick, data) if pick.random() < 0.1 else data)
        watch.run_command(*pick.choice(_COMMANDS))


def _changed_event(pick: random.Random, event: Any) -> Any:
    """Some changes to an event, or to the data of a call or an answer in it."""
    kind = event.get("event") if isinstance(event, dict) else None
    if kind in _DATA and pick.random() < 0.8:
        return {**event, _DATA[kind]: _data(pick, event[_DATA[kind]])}
    return mutate_tree(pick, event, recorded())


_DATA: Final = {"call_begun": "call", "call_answered": "answer"}
_FORGED: Final[tuple[Any, ...]] = (
    {"$tuple": [1, 2]},
    {"$dict": [[3, 4]]},
    {"$dict": [[[], 4]]},
    {"$dict": 5},
    {"$int": "0x" + "f" * 30_000},
    {"$int": "-z"},
    {"$other": 1},
    {"name": "look", "arguments": {"name": "a"}},
    {"value": 1, "error": "KeyError"},
    {"error": "KeyError"},
    {"error": "SystemExit", "message": "x", "done": True},
    {"error": "", "message": 5},
    {"observation": {"text": "a room", "success": True}},
)


def _data(pick: random.Random, data: Any) -> Any:
    """The data of a call or an answer, with changes."""
    tree: Any = mutate_tree(pick, data, _FORGED)
    if pick.random() < 0.3 and isinstance(tree, dict) and tree:
        tree[pick.choice(list(tree))] = pick.choice(_FORGED)
    return tree


def judge_call(pick: random.Random, watch: Watch) -> None:
    """A call and an answer, as a recording or a method could have them."""
    call = {"name": "look", "arguments": {"name": "a", "others": ["b"], "more": {"x": 1}}}
    answer = {"value": {"a": [1, {"$tuple": [2]}], "b": None}}
    try:
        shown_call(found := msgspec.json.decode(as_json(_data(pick, call)), type=Call))
        shown_answer(answered := msgspec.json.decode(as_json(_data(pick, answer)), type=Answer))
        for packed in (*(found.arguments or {}).values(), answered.value):
            unpack(packed)
    except NotPlainData as error:
        judge_sentence(str(error))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return


_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "title": "Order",
    "description": "An order.",
    "properties": {
        "name": {"type": "string", "minLength": 1, "pattern": "^a", "default": "a"},
        "kinds": {"type": "array", "items": {"enum": ["x", "y", None]}, "maxItems": 3},
        "part": {"$ref": "#/$defs/Part"},
        "either": {"anyOf": [{"type": "integer", "maximum": 5}, {"type": "null"}]},
        "both": {"allOf": [{"$ref": "#/$defs/Part"}, {"properties": {"z": {"const": 1}}, "required": ["z"]}]},
        "map": {"type": "object", "additionalProperties": {"type": ["number", "boolean"]}},
    },
    "required": ["name", "part"],
    "additionalProperties": False,
    "$defs": {"Part": {"type": "object", "properties": {"size": {"type": "number"}, "next": {"$ref": "#/$defs/Part"}}}},
}
_ARGUMENTS: Final = {
    "name": "abc",
    "kinds": ["x", None],
    "part": {"size": 1.5, "next": {"size": 2}},
    "either": 3,
    "both": {"z": 1},
    "map": {"k": True},
}
_RESULT: Final = {
    "content": [
        {"type": "text", "text": "found"},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "note://1", "text": "a note", "mimeType": "text/plain"}},
        {"type": "resource", "resource": {"uri": "note://2", "blob": "aGk="}},
        {"type": "resource_link", "uri": "note://3", "name": "third"},
    ],
    "structuredContent": {"result": [1, 2]},
    "isError": False,
}


def judge_server(pick: random.Random, watch: Watch) -> None:
    """A tool that a server describes, a call of it, and what it answers."""
    with watch.example() as folder, watch.watched():
        schema, output = (
            mutate_tree(pick, _SCHEMA, [_SCHEMA]),
            mutate_tree(pick, _SCHEMA["properties"]["part"], [_SCHEMA]),
        )
        given = mutate_tree(pick, _ARGUMENTS) if pick.random() < 0.5 else _ARGUMENTS
        try:
            described = write_signature("order", str(odd_value(pick))[:9_000], schema, output, TypeTable())
            if isinstance(given, dict):
                named = given if described.wire_names is not None else {"arguments": given}
                known = {p.name for p in described.method.parameters}
                sent = described.wire_arguments({k: v for k, v in named.items() if k in known} | _absent(known, named))
                ArgumentCheck(schema).require_valid("order", sent)
                json.dumps(sent, allow_nan=False).encode()
        except (AgentError, UnusableTool) as error:
            judge_sentence(str(error))
        _judge_result(pick, FileStore(folder if pick.random() < 0.7 else None))


def _absent(known: set[str], named: dict[str, Any]) -> dict[str, Any]:
    return {name: None for name in known if name not in named}


def _judge_result(pick: random.Random, store: FileStore) -> None:
    from mcp_types import CallToolResult

    tree = mutate_tree(pick, _RESULT, [_RESULT])
    if pick.random() < 0.6 and isinstance(tree, dict):
        tree.pop("structuredContent", None)
    try:
        result = CallToolResult.model_validate(tree)
    except (ValueError, RecursionError):
        return
    try:
        pack_result(read_result("order", result, wrapper="result", store=store))
    except NotPlainData as error:
        judge_sentence(str(error))
    except CodeplanError as error:
        assert isinstance(error, AgentError)
        assert str(error).strip()
