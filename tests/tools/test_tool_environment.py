"""Tools in an episode: a plan's calls are actions, and their answers reach it as data or as errors that it can catch."""

import asyncio
import contextvars

import pytest
from support.boxes import Replies

from codeplan.errors import AgentError, CallInDoubt, EnvironmentFailure, UsageError
from codeplan.runner.given_plans import execute
from codeplan.tools import ToolEnvironment, Toolset, python_tools
from codeplan.types import Answer, Call, Failed, Finished, Observation, Rejected, Task

PLAN = "def solution(agent, start_from=1):\n    if start_from <= 1:\n"


def environment(*things, goal="do it"):
    return ToolEnvironment(goal, Toolset(python_tools(*things)))


def run(lines, *things, **options):
    """The outcome of a plan with these lines."""
    body = "".join(f"        {line}\n" for line in lines.strip().splitlines())
    return execute(PLAN + body, environment(*things), model=Replies(), **options).outcome


def printed(lines, *things):
    outcome = run(lines, *things)
    assert isinstance(outcome, Finished), outcome
    return outcome.output.splitlines()


def echo(x):
    return x


def ignore(event):
    """Keep no events."""


class NotThere(LookupError):
    pass


class ApiError(Exception):
    pass


def fail(kind: str):
    raise {
        "key": KeyError("bob"),
        "value": ValueError("too small"),
        "own": NotThere("no row"),
        "api": ApiError("503"),
        "file": FileNotFoundError(2, "No such file", "x.txt"),
        "assert": AssertionError("never"),
        "stop": StopIteration(),
        "exit": SystemExit(3),
        "refused": AgentError("not today"),
        "typed": AgentError("not today", "PermissionError"),
        "of_a_class": AgentError("not today", PermissionError),
        "of_nothing": AgentError("not today", ""),
        "long": ValueError("x" * 50_000),
    }[kind]


def test_a_plan_gets_the_data_itself():
    def table():
        return {1: ("a", [None, 1.5])}

    lines = "x = agent.table()\nprint(x[1][1], type(x[1]).__name__, agent.echo((float('inf'), {'a': 1})))"
    assert printed(lines, echo, table) == ["[None, 1.5] tuple (inf, {'a': 1})"]


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("key", "KeyError", "'bob'"),
        ("value", "ValueError", "too small"),
        ("own", "LookupError", "NotThere: no row"),
        ("api", "RuntimeError", "ApiError: 503"),
        ("file", "FileNotFoundError", "[Errno 2] No such file: 'x.txt'"),
        ("assert", "RuntimeError", "AssertionError: never"),
        ("stop", "RuntimeError", "StopIteration: "),
        ("exit", "RuntimeError", "SystemExit: 3"),
        ("refused", "RuntimeError", "not today"),
        ("typed", "PermissionError", "not today"),
        ("of_a_class", "PermissionError", "not today"),
        ("of_nothing", "RuntimeError", "not today"),
    ],
)
def test_a_tools_exception_reaches_the_plan_by_type_and_message(kind, error, message):
    lines = f"try:\n    agent.fail({kind!r})\nexcept {error} as e:\n    print(type(e).__name__, e)"
    assert printed(lines, fail) == [f"{error} {message}"]
    outcome = run(f"agent.fail({kind!r})", fail)
    assert isinstance(outcome, Failed) and (outcome.error, outcome.message) == (error, message)


def test_what_an_exception_says_is_bounded(capfd):
    outcome = run("agent.fail('long')", fail)
    assert isinstance(outcome, Failed) and len(outcome.message) < 3_000
    assert len(capfd.readouterr().err) < 10_000


@pytest.mark.parametrize("kind", ["refused", "typed"])
def test_a_refusal_is_no_failure_of_the_tool(kind, capfd):
    run(f"agent.fail({kind!r})", fail)
    assert capfd.readouterr().err == ""


def order(item: str, qty: int):
    return qty


def test_an_argument_that_a_tool_lacks_is_named():
    why = "order(item: str, qty: int) was called wrongly: order has no argument `quantity`; it has item, qty"
    outcome = run("o = agent.order\no('a', quantity=10)", order)
    assert isinstance(outcome, Failed)
    assert why in outcome.message
    refused = run("agent.order('a', quantity=10)", order)
    assert isinstance(refused, Rejected)
    assert "order has no argument `quantity`; it has item, qty" in refused.diagnostics[0].message


def test_a_tool_that_cannot_say_what_is_wrong_does_no_harm():
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError

    def speak():
        raise Mute

    assert printed("try:\n    agent.speak()\nexcept RuntimeError as e:\n    print(e)", speak) == [
        "Mute: its message cannot be read"
    ]


def test_a_result_that_is_no_data_is_an_error_of_the_call():
    def make():
        return object()

    assert printed("try:\n    agent.make()\nexcept ValueError as e:\n    print(e)", make) == [
        "make returned a value of the type object, which is not plain data"
    ]


user = contextvars.ContextVar("user", default="nobody")


def test_asynchronous_tools_share_one_loop_and_see_the_callers_context():
    loops = set()

    async def wait(n: int) -> str:
        loops.add(id(asyncio.get_running_loop()))
        await asyncio.sleep(0)
        return f"{n} {user.get()}"

    async def count():
        for n in range(3):
            yield n

    user.set("ann")
    assert printed("print(agent.wait(1), agent.wait(2), agent.count())", wait, count) == ["1 ann 2 ann [0, 1, 2]"]
    assert len(loops) == 1


def test_a_program_with_a_running_loop_can_use_asynchronous_tools():
    async def wait():
        return asyncio.get_running_loop() is not main

    async def program():
        nonlocal main
        main = asyncio.get_running_loop()
        return printed("print(agent.wait())", wait)

    main = None
    assert asyncio.run(program()) == ["True"]


def test_closing_ends_what_asynchronous_tools_left_running():
    ended = []

    async def leave():
        async def run_on():
            try:
                await asyncio.sleep(100)
            finally:
                ended.append(True)

        leave.task = asyncio.create_task(run_on())
        await asyncio.sleep(0)

    env = environment(leave)
    env.reset(*env.tasks("test"))
    assert env.call(1, Call("leave", {}), ignore) == Answer()
    env.close()
    env.close()
    assert ended == [True]


def test_the_environment_has_one_task_and_begins_it_once():
    env = environment(echo, goal="  find it ")
    (task,) = env.tasks("test")
    assert (task, env.tasks("train")) == (Task("goal", "tools", "goal", "find it"), ())
    assert isinstance(env.reset(task), Observation)
    with pytest.raises(EnvironmentFailure, match="no start to go back to"):
        env.reset(task)


@pytest.mark.parametrize(
    ("goal", "why"), [("", "is empty"), (" \n", "is empty"), (None, "is a text, not None"), (3, "is a text, not 3")]
)
def test_an_empty_goal_is_refused(goal, why):
    with pytest.raises(UsageError, match=f"the goal {why}"):
        environment(echo, goal=goal)


def test_a_goal_that_no_trace_can_hold_is_refused():
    with pytest.raises(UsageError, match=r"the goal 'look \\udcff' is not text in UTF-8; type it again"):
        environment(echo, goal="look \udcff")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (Call("look"), "there is no tool 'look'; there are: echo"),
        (Call("ecko", {}), "there is no tool 'ecko'; there are: echo"),
        (Call("echo", {}), "echo(x) was called without x"),
        (Call("echo"), "echo(x) was called without x"),
        (Call("echo", {"x": 1, "y": 2}), "echo(x) has no parameter 'y'"),
        (Call("echo", {"x": {"$int": "z"}}), "echo was given an unknown form: "),
    ],
)
def test_a_call_that_does_not_fit_is_answered_and_not_made(call, message):
    recorded = []
    answer = environment(echo).call(1, call, recorded.append)
    assert answer.error and message in answer.message
    assert recorded == []


def test_a_call_that_was_never_made_is_not_in_doubt_and_neither_is_the_next():
    env = environment(echo)
    env.take_up(Call("echo", {"y": 1}))
    assert "echo(x) has no parameter 'y'" in env.call(1, Call("echo", {"y": 1}), ignore).message
    assert env.call(2, Call("echo", {"x": 2}), ignore) == Answer(2)
    env.take_up(Call("echo", {"x": 3}))
    with pytest.raises(CallInDoubt):
        env.call(3, Call("echo", {"x": 3}), ignore)


def test_arguments_that_are_no_data_or_too_much_are_refused_before_the_call():
    agent = environment(echo).agent(lambda call: pytest.fail("it is not made"))
    for value, why in (([0] * 20_001, "more than 20,000 values"), ({1}, "a set, which is not plain data")):
        with pytest.raises(AgentError, match=f"^echo was given {why}$"):
            agent.echo(value)


def test_an_answer_that_no_tool_gave_is_an_error_and_can_be_reported():
    agent = environment(echo).agent(lambda call: Answer({"$tuple": 5}))
    with pytest.raises(AgentError, match="^echo returned an unknown form: "):
        agent.echo(1)
    assert agent.report() == "The last call, echo(x=1), returned {'$tuple': 5}"


def test_what_no_trace_can_hold_is_escaped_or_refused(tmp_path):
    def say():
        raise AgentError("half \ud800", "ValueError")

    outcome = run("agent.say()", say, out=tmp_path)
    assert isinstance(outcome, Failed) and outcome.message == "half \\ud800"


def test_the_report_tells_of_the_last_call():
    lines = "print(agent.report())\nagent.echo('a')\nprint(agent.report())"
    assert printed(lines, echo) == ["No tool was called yet.", "The last call, echo(x='a'), returned 'a'"]
