"""Tools, verifiers and approvers whose code fails in unusual ways: each is a failure of theirs, and nothing hangs."""

import asyncio
import collections.abc
import contextlib
import fractions
import json
import sys
import threading

import pytest
from support.boxes import Replies

import codeplan
from codeplan.errors import EnvironmentFailure, VerifierBroken
from codeplan.recording.events import ToolFailed
from codeplan.recording.trace import Trace
from codeplan.tools import ToolEnvironment, Toolset, python_tools
from codeplan.types import Call, Claimed


class Unreadable(collections.abc.Mapping):
    def __len__(self):
        return 1

    def __iter__(self):
        raise RuntimeError("no keys")

    def __getitem__(self, key):
        raise KeyError(key)


class Quitter(Exception):
    def __str__(self):
        sys.exit(0)


class Escaping(BaseException):
    """No Exception: it passes every ``except Exception``."""


class Breaking(Exception):
    def __str__(self):
        raise Escaping


class Pretending(Exception):
    __class__ = KeyboardInterrupt


def break_words():
    raise Breaking


def pretend():
    raise Pretending("an interrupt")


def begin_rows():
    yield 1
    raise LookupError("the rows are gone")


def give_unreadable():
    return Unreadable()


def give_fraction():
    return fractions.Fraction(10**400)


def name_file():
    raise FileNotFoundError("no file \udc80")


def cancel():
    raise asyncio.CancelledError


def raise_group():
    raise BaseExceptionGroup("both", [asyncio.CancelledError()])


def quit_in_words():
    raise Quitter


async def quit_in_loop():
    sys.exit(0)


async def quit_in_background():
    async def leave():
        sys.exit(0)

    asyncio.create_task(leave())  # noqa: RUF006
    await asyncio.sleep(0.01)
    raise LookupError("later")


FAILING = {
    begin_rows: "LookupError the rows are gone",
    give_unreadable: "RuntimeError no keys",
    give_fraction: "OverflowError integer division result too large for a float",
    name_file: "FileNotFoundError no file \\udc80",
    cancel: "RuntimeError CancelledError",
    raise_group: "RuntimeError BaseExceptionGroup: both (1 sub-exception)",
    quit_in_words: "RuntimeError Quitter: its message cannot be read",
    break_words: "RuntimeError Breaking: its message cannot be read",
    pretend: "RuntimeError Pretending: an interrupt",
    quit_in_loop: "RuntimeError SystemExit: 0",
    quit_in_background: "LookupError later",
}


def plan(*lines):
    body = "".join(f"        {line}\n" for line in lines)
    return f"```python\ndef solution(agent, start_from=1):\n    if start_from <= 1:\n{body}```"


@pytest.mark.parametrize("tool", FAILING, ids=lambda tool: tool.__name__)
def test_whatever_a_tool_raises_is_its_failure(tool, tmp_path, capfd):
    caught = ["try:", f"    agent.{tool.__name__}()", "except Exception as e:"]
    replies = Replies(plan(*caught, "    return type(e).__name__ + ' ' + str(e)"))
    result = codeplan.do("try it", tools=tool, model=replies, out=tmp_path)
    assert (type(result.ending), result.value) == (Claimed, FAILING[tool])
    failed = [e for e in Trace.read(tmp_path / "trace.jsonl") if isinstance(e, ToolFailed)]
    assert [e.tool for e in failed] == [tool.__name__]
    assert capfd.readouterr().err == ""


def interrupt_in_words():
    class Interrupting(Exception):
        def __str__(self):
            raise KeyboardInterrupt

    raise Interrupting


def test_an_interrupt_while_a_message_is_read_is_one():
    result = None
    with contextlib.suppress(KeyboardInterrupt):
        result = codeplan.do("try it", tools=interrupt_in_words, model=Replies(plan("agent.interrupt_in_words()")))
    assert result is None or isinstance(result.ending, codeplan.types.Interrupted)


def quits(*_):
    sys.exit(0)


async def quits_later(*_):
    sys.exit(0)


def is_cancelled(*_):
    raise asyncio.CancelledError


@pytest.mark.parametrize("judge", [quits, quits_later, is_cancelled])
def test_a_verifier_that_leaves_the_program_has_verified_nothing(judge):
    with pytest.raises(VerifierBroken, match="the verifier failed: (SystemExit: 0|CancelledError)$"):
        codeplan.do("try it", tools=cancel, model=Replies(plan("return 1")), verify=lambda value: judge(value))


@pytest.mark.parametrize("approve", [quits, quits_later, is_cancelled])
def test_an_approver_that_leaves_the_program_has_approved_nothing(approve):
    called = []

    def act():
        called.append(True)

    with pytest.raises(EnvironmentFailure, match="the function that approves calls failed: "):
        codeplan.do("try it", tools=act, model=Replies(plan("agent.act()")), approve=lambda call: approve())
    assert called == []


def test_a_task_that_ignores_its_end_does_not_hold_up_the_episodes_end():
    async def leave():
        async def run_on():
            while True:
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(100)

        leave.task = asyncio.create_task(run_on())
        await asyncio.sleep(0)

    env = ToolEnvironment("try it", Toolset(python_tools(leave)))
    env.call(1, Call("leave", {}), lambda event: None)
    closing = threading.Thread(target=env.close, daemon=True)
    closing.start()
    closing.join(30)
    assert not closing.is_alive()


# ------------------------------------------------------------------ calls that a model writes


def echo(x):
    return x


@pytest.mark.parametrize(
    ("argument", "why"),
    [
        ("[" * 31 + "]" * 31, ""),
        ("[" * 900 + "]" * 900, "nested deeper than 32"),
        ('{"$tuple": [' * 31 + "1" + "]}" * 31, ""),
        ('{"$tuple": [' * 300 + "1" + "]}" * 300, "nested deeper than 32"),
        ("[" + "1, " * 19_000 + "1]", ""),
        ("[" + "1, " * 60_000 + "1]", "more than 20,000 values"),
        (json.dumps({"$dict": [[n * (2**61 - 1), 1] for n in range(9_000)]}), "keys of the same hash"),
    ],
)
def test_a_call_is_read_within_the_limits_of_plain_data(argument, why):
    env = ToolEnvironment("try it", Toolset(python_tools(echo)))
    call = Call("echo", {"x": json.loads(argument)})
    answer = env.call(1, call, lambda event: None)
    assert (why in answer.message and answer.error == "ValueError") if why else answer.value == call.arguments["x"]
