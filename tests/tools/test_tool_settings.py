"""``codeplan.tool``: its settings reach the tools of functions, methods, objects, modules and files."""

import functools

import pytest
from support.boxes import Replies

import codeplan
from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.recording.events import ToolFailed, WarningIssued
from codeplan.tools import ToolEnvironment, Toolset, python_tools
from codeplan.tools.environment import CallRules
from codeplan.types import Answer, Call


def settings(*things):
    return {tool.name: (tool.once, tool.timeout, tool.error_if) for tool in python_tools(*things)}


def send(to: str) -> str:
    return to


class Store:
    @codeplan.tool(timeout=3)
    def get(self) -> int:
        return 1

    @staticmethod
    @codeplan.tool(once=True)
    def put() -> int:
        return 2

    @codeplan.tool(once=True)
    @classmethod
    def name(cls) -> str:
        return "store"

    def plain(self) -> int:
        return 3


def test_a_decorated_function_stays_what_it_is():
    def look() -> int:
        return 1

    assert codeplan.tool(timeout=3)(look) is look and settings(look) == {"look": (False, 3.0, None)}
    assert codeplan.tool(look) is look

    @functools.wraps(look)
    def logged() -> int:
        return look()

    assert settings(logged, functools.partial(send, "x")) == {"look": (False, 3.0, None), "send": (False, None, None)}


def test_a_wrapped_function_is_another_one_only_for_codeplan():
    wrapped = codeplan.tool(send, once=True)
    assert settings(wrapped) == {"send": (True, None, None)} and settings(send) == {"send": (False, None, None)}
    assert wrapped("ann") == "ann" and wrapped.__name__ == "send"


def test_a_wrapper_fills_in_what_the_methods_of_an_object_do_not_say():
    assert settings(codeplan.tool(Store(), timeout=9, error_if="error")) == {
        "get": (False, 3.0, "error"),
        "put": (True, 9.0, "error"),
        "name": (True, 9.0, "error"),
        "plain": (False, 9.0, "error"),
    }
    assert set(settings(codeplan.tool([send, Store()], once=True)).values()) == {(True, None, None), (True, 3.0, None)}


def test_a_file_may_decorate_its_functions_and_wrap_others(tmp_path):
    lines = ["import codeplan, os.path", "@codeplan.tool(timeout=2)", "def look() -> int: return 1"]
    file = tmp_path / "settled.py"
    file.write_text("\n".join([*lines, "base = codeplan.tool(os.path.basename, once=True)"]))
    assert settings(codeplan.tool(str(file), error_if="error")) == {
        "look": (False, 2.0, "error"),
        "base": (True, None, "error"),
    }


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"once": "yes"}, "^once is True or False, not "),
        ({"error_if": ""}, "^error_if is the name of a key, or a function"),
        ({"error_if": 3}, "^error_if is the name of a key, or a function"),
    ],
)
def test_a_wrong_setting_is_a_usage_error(wrong, why):
    with pytest.raises(UsageError, match=why):
        codeplan.tool(send, **wrong)


def test_only_functions_are_decorated():
    with pytest.raises(UsageError, match="decorates functions and methods"):
        codeplan.tool(once=True)(Store)


# ------------------------------------------------------------------ answers that are errors


def find(row: int) -> dict:
    return {1: {"row": 1, "error": None}, 2: {"error": "no such row"}, 3: {"error": True}}[row]


def answer(tool, tool_errors="plan", **arguments):
    env, events = ToolEnvironment("try it", Toolset(python_tools(tool)), rules=CallRules(tool_errors=tool_errors)), []
    return env.call(1, Call(env.toolset.names[0], arguments), events.append), events


@pytest.mark.parametrize("test", ["error", lambda value: value.get("error")])
def test_an_answer_that_is_said_to_be_an_error_is_one(test):
    tool = codeplan.tool(find, error_if=test)
    assert answer(tool, row=1)[0] == Answer({"row": 1, "error": None})
    found, events = answer(tool, row=2)
    assert found == Answer(error="RuntimeError", message="no such row")
    assert [(e.tool, e.error, e.message) for e in events if isinstance(e, ToolFailed)] == [
        ("find", "RuntimeError", "no such row")
    ]
    assert answer(tool, row=3)[0].message == "find answered {'error': True}"
    assert answer(tool, "stop", row=2)[0].done


@pytest.mark.parametrize("test", [lambda value: 1 / 0, lambda value: [value]])
def test_a_broken_test_of_answers_is_the_users_bug(test):
    with pytest.raises(EnvironmentFailure, match="^error_if failed for find: ") as caught:
        answer(codeplan.tool(find, error_if=test), row=1)
    assert caught.value.is_users_bug and caught.value.__cause__ is not None


# ------------------------------------------------------------------ declared types


def count() -> int:
    return "12"


async def names() -> list[str]:
    return ["ann", 3]


def good() -> set[str]:
    return ["a"]


@pytest.mark.parametrize(
    ("tool", "told"),
    [
        (count, "count declares -> int, but returned a str; the model was told int"),
        (
            names,
            "names declares -> list[str], but returned a list in which [1] is an int; the model was told list[str]",
        ),
        (good, None),
    ],
)
def test_a_declared_type_that_is_wrong_is_told_once(tool, told, tmp_path, capfd):
    lines = f"    return [agent.{tool.__name__}(), agent.{tool.__name__}()]"
    source = f"```python\ndef solution(agent, start_from=1):\n{lines}\n```"
    codeplan.do("try it", tools=tool, model=Replies(source), out=tmp_path)
    warnings = [e.message for e in codeplan.Trace.read(tmp_path / "trace.jsonl") if isinstance(e, WarningIssued)]
    assert [w for w in warnings if "declares" in w] == ([told] if told else [])
    assert capfd.readouterr().err.count("declares") == (1 if told else 0)
    assert codeplan.replay(tmp_path, env=ToolEnvironment("try it", Toolset(python_tools(tool)))).actions == 2
