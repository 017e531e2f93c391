"""A goal reached with the user's own tools: verified, claimed, approved, refused, failed."""

import functools
import json
import shlex
import textwrap

import pytest
from support.boxes import Replies

import codeplan
from codeplan.errors import UsageError, VerifierBroken
from codeplan.recording.events import (
    CallAnswered,
    CallDecided,
    EpisodeEnded,
    EpisodeStarted,
    PlanRejected,
    PlanStarted,
    ToolFailed,
    ValueJudged,
)
from codeplan.recording.trace import Trace
from codeplan.tools import ToolEnvironment, Toolset, python_tools
from codeplan.tools.environment import Verifier
from codeplan.types import Claimed, Crashed, EnvironmentEnded, InfrastructureFailed, LastFailure, NoProgress, Success


class Store:
    def __init__(self):
        self.rows = {"a": 3, "b": 4}

    def get(self, key: str) -> int:
        return self.rows[key]

    def delete(self, key: str) -> None:
        del self.rows[key]


def plan(*lines):
    body = textwrap.indent("\n".join(lines), "        ")
    return f"```python\ndef solution(agent, start_from=1):\n    if start_from <= 1:\n{body}\n```"


TOTAL = plan("total = agent.get('a') + agent.get('b')", "assert total > 0, 'Error in [Step 1]: none'", "return total")


def do(*replies, tools=None, **options):
    model = Replies(*replies)
    result = codeplan.do("add up", tools=tools or Store(), model=model, **options)
    return result, model


def events(folder, *kinds):
    return [e for e in Trace.read(folder / "trace.jsonl") if isinstance(e, kinds)]


# ------------------------------------------------------------------ success


def test_a_verified_value_is_a_success():
    result, _ = do(TOTAL, verify=lambda value, tools: value == tools.get("a") + tools.get(key="b"))
    assert (result.success, result.ending, result.value, result.variables) == (True, Success(), 7, {"total": 7})
    assert (result.actions, result.model_calls, result.failure) == (2, 1, None)


def test_without_a_verifier_the_end_is_claimed_and_no_success():
    result, model = do(TOTAL)
    assert (result.success, result.claim, result.value) == (False, True, 7)
    assert result.ending == Claimed("the plan ran to its end; nobody verified the result")
    assert model.purposes == ["plan"]


def use(tool: str) -> str:
    return tool


def test_a_verifier_can_call_a_tool_whose_parameter_has_the_name_tool():
    result, _ = do(
        plan("return agent.use('saw')"), tools=use, verify=lambda value, tools: value == tools.use(tool="saw")
    )
    assert result.ending == Success()


async def says_why(value):
    return True if value == 7 else f"{value} is not the sum"


def test_a_verifier_that_says_why_has_the_plan_refined(tmp_path):
    wrong = TOTAL.replace("+ agent.get('b')", "")
    result, model = do(wrong, TOTAL, verify=says_why, out=tmp_path)
    assert (result.success, result.value, model.purposes) == (True, 7, ["plan", "refine"])
    assert "The result was not accepted: 3 is not the sum" in str(model.asked[1])
    assert [e.verdict.success for e in events(tmp_path, ValueJudged)] == [False, True]


@pytest.mark.parametrize("value", ["map(str, [7])", "'x' * 300_000"])
@pytest.mark.parametrize("options", [{}, {"verify": lambda value: value == 7}])
def test_a_value_that_is_no_plain_data_is_not_accepted_and_the_model_reads_why(value, options, tmp_path):
    result, model = do(TOTAL.replace("return total", f"return {value}"), TOTAL, out=tmp_path, **options)
    assert (result.value, result.refinements, model.purposes) == (7, 1, ["plan", "refine"])
    first, last = [e.verdict for e in events(tmp_path, ValueJudged)]
    assert "what the plan returned cannot be handed over: " in first.text and first.text in str(model.asked[1])
    assert (last is None) is (not options)
    assert codeplan.replay(tmp_path).value == 7


class Post:
    """A tool whose calls cannot be undone."""

    def __init__(self):
        self.sent = []

    def send(self, text: str) -> int:
        self.sent.append(text)
        return len(self.sent)


SEND = """```python
def solution(agent, start_from=1):
    if start_from <= 1:
        count = agent.send('one')
    return count
```"""
MORE = SEND.replace("    return", "    if start_from <= 2:\n        count = agent.send('two')\n    return")


def test_a_plan_that_stays_the_same_after_a_refusal_makes_no_call_again():
    post = Post()
    result, model = do(*[SEND] * 9, tools=post, verify=lambda value: "send two")
    assert post.sent == ["one"]
    assert (result.actions, model.purposes) == (1, ["plan", "refine", "refine"])
    assert result.ending == NoProgress(
        "no progress: 2 refinements in a row led to the same end; each plan ran to its end; "
        "then came: 'The result was not accepted: send two'"
    )


def test_code_outside_the_steps_runs_again_without_them(tmp_path):
    post = Post()
    result, _ = do(SEND, SEND.replace("return count", "return count + 6"), tools=post, verify=says_why, out=tmp_path)
    assert (result.success, result.value, post.sent) == (True, 7, ["one"])
    assert [e.start_from for e in events(tmp_path, PlanStarted)] == [1, 2]
    assert codeplan.replay(tmp_path).value == 7


def test_a_step_that_follows_an_unchanged_plan_runs_with_its_variables(tmp_path):
    post = Post()
    result, _ = do(SEND, SEND, MORE, tools=post, verify=lambda value: value == 2, out=tmp_path)
    assert (result.success, result.value, post.sent) == (True, 2, ["one", "two"])
    assert [e.start_from for e in events(tmp_path, PlanStarted)] == [1, 2, 2]


def test_plans_over_tools_never_start_over():
    """By default, others do from the fourth run on."""
    post = Post()
    fails = MORE.replace("agent.send('two')", "agent.send({text!r})\n        assert count == 6")
    replies = [fails.format(text=f"try {number}") for number in range(1, 6)]
    result, _ = do(*replies, tools=post)
    assert (result.value, post.sent) == (6, ["one", "try 1", "try 2", "try 3", "try 4", "try 5"])


def test_wrong_tools_and_an_empty_goal_are_told_before_a_missing_key(tmp_path, monkeypatch):
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(UsageError, match="the goal is empty"):
        codeplan.do(" ", tools=Store(), model="gpt-4.1")
    with pytest.raises(UsageError, match="there is no file"):
        codeplan.do("look", tools=str(tmp_path / "absent.py"), model="gpt-4.1")


def test_no_server_is_started_for_a_model_that_cannot_be_reached(tmp_path, monkeypatch):
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        codeplan.do("look", mcp=[shlex.join(["touch", str(tmp_path / "started")])], model="gpt-4.1")
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize(
    ("verify", "why"),
    [
        (lambda value: None, "returned a value of the type NoneType; return True, False or a text"),
        (lambda value, tools: tools.get([]), "the verifier failed: AgentError: get was called wrongly: key: "),
    ],
)
def test_a_broken_verifier_ends_the_episode_and_is_never_a_success(verify, why, tmp_path):
    with pytest.raises(VerifierBroken, match=why):
        do(TOTAL, verify=verify, out=tmp_path)
    (*_, end) = Trace.read(tmp_path / "trace.jsonl")
    assert not end.result.success and isinstance(end.result.ending, InfrastructureFailed)


@pytest.mark.parametrize(
    ("patterns", "sentence"),
    [
        ({"deny": ["delte"], "allow": ["*"]}, "no tool has a name that fits deny 'delte'; did you mean delete?"),
        ({"deny": ["g*", "delete"]}, "all tools are denied ('g*', 'delete'); deny fewer"),
    ],
)
def test_patterns_that_leave_no_tool_or_fit_none_are_refused_before_anything_starts(patterns, sentence, tmp_path):
    store, asked = Store(), []
    with pytest.raises(UsageError) as caught:
        codeplan.do("tidy up", tools=store, model=lambda messages: asked.append(1), out=tmp_path / "run", **patterns)
    assert str(caught.value) == sentence
    assert (asked, (tmp_path / "run").exists()) == ([], False)


def test_a_denied_tool_is_in_no_prompt_and_not_in_the_agent(tmp_path):
    """The header does not describe it either; the check says that it does not exist, and nothing of the plan runs."""
    result, model = do(DELETE, plan("return agent.get('a')"), deny="del*", out=tmp_path)
    (header,) = events(tmp_path, EpisodeStarted)
    (rejected,) = events(tmp_path, PlanRejected)
    assert [tool.method.name for tool in header.tools] == ["get"]
    assert "the agent has no `delete`" in rejected.diagnostics[0].message
    assert not any("delete" in message["content"] for message in model.asked[0][1])
    assert result.value == 3


@pytest.mark.parametrize("value", ["(1, {2}, [None])", "{1: float('inf')}", "2 ** 70", "'\\ud800'"])
def test_the_result_is_json_and_equals_that_of_a_replay(value, tmp_path):
    result, _ = do(plan(f"return {value}"), out=tmp_path, verify=lambda value: True)
    assert json.loads(json.dumps(result.value)) == result.value
    tools = ToolEnvironment("add up", Toolset(python_tools(Store())), verifier=Verifier(lambda value: False))
    again = codeplan.replay(tmp_path, env=tools)
    assert (again.success, again.value) == (True, result.value)


# ------------------------------------------------------------------ failures


def fail():
    raise ConnectionError("no route")


FAIL = plan("try:", "    agent.fail()", "except Exception as e:", "    print(e)", "return 1")


def test_a_tools_exception_is_on_the_trace_with_its_traceback(tmp_path, capfd):
    result, _ = do(FAIL, tools=fail, out=tmp_path)
    (failed,) = events(tmp_path, ToolFailed)
    assert (failed.tool, failed.error, failed.message) == ("fail", "ConnectionError", "no route")
    assert "in fail" in failed.traceback and "python_tools.py" not in failed.traceback
    assert (result.value, result.failure, capfd.readouterr().err) == (1, None, "")


def test_a_tools_exception_that_ends_the_plan_is_its_failure_with_a_traceback(tmp_path, capfd):
    result, _ = do(plan("agent.fail()"), tools=fail, tries=1, out=tmp_path)
    assert result.failure == LastFailure("ConnectionError", "no route", 1, 3, "fail")
    (failed,) = events(tmp_path, ToolFailed)
    shown = capfd.readouterr().err
    assert shown.startswith("The tool fail failed:\nTraceback") and shown.count(failed.traceback) == 1
    codeplan.replay(tmp_path, env=ToolEnvironment("add up", Toolset(python_tools(fail))))
    assert failed.traceback not in capfd.readouterr().err


def test_an_error_that_the_plan_raises_itself_after_a_failed_call_is_not_the_tools():
    lines = ["try:", "    agent.fail()", "except OSError:", "    raise OSError('mine')"]
    result, _ = do(plan(*lines), tools=fail, tries=1)
    assert (result.failure.error, result.failure.tool) == ("OSError", "")


def test_a_debug_flag_shows_each_traceback(monkeypatch, capfd):
    monkeypatch.setenv("CODEPLAN_DEBUG", "1")
    do(FAIL, tools=fail)
    assert "The tool fail failed:" in capfd.readouterr().err


def test_tool_errors_can_stop_the_episode_at_the_first(tmp_path):
    result, model = do(FAIL, tools=fail, tool_errors="stop", out=tmp_path)
    why = "the tool fail failed, and tool errors end the episode: ConnectionError: no route"
    assert (result.success, result.ending, model.purposes) == (False, EnvironmentEnded(why), ["plan"])
    failure = result.failure
    assert (result.value, failure.error, failure.step, failure.tool) == (None, "ConnectionError", 1, "fail")
    assert len(events(tmp_path, CallAnswered)) == 1


class NoRoute(ConnectionError):
    pass


@pytest.mark.parametrize(("message", "said"), [("to Rome", "NoRoute: to Rome"), ("", "NoRoute")])
def test_an_exception_of_the_users_own_is_named_once(message, said):
    def send():
        raise NoRoute(message)

    result, _ = do(plan("agent.send()"), tools=send, tool_errors="stop")
    assert result.ending == EnvironmentEnded(f"the tool send failed, and tool errors end the episode: {said}")
    assert (result.failure.error, result.failure.step, result.failure.tool) == ("NoRoute", 1, "send")

    result, _ = do(plan("try:", "    agent.send()", "except ConnectionError as e:", "    return str(e)"), tools=send)
    assert (result.value, result.failure) == (said, None)


def test_a_failed_plan_is_named_in_the_result():
    result, _ = do(plan("assert False, 'Error in [Step 1]: nothing'"), tries=1)
    assert result.failure == LastFailure("AssertionError", "Error in [Step 1]: nothing", 1, 3)


def test_a_replay_makes_no_call(tmp_path):
    called = []

    def look():
        called.append(1)
        return fail()

    source = plan("try:", "    agent.look()", "except Exception:", "    pass", "x = agent.look", "return 2")
    do(source, tools=look, out=tmp_path / "run", allow=["look"])
    env = ToolEnvironment("add up", Toolset(python_tools(look)))
    assert codeplan.replay(tmp_path / "run", env=env).value == 2
    assert called == [1]


# ------------------------------------------------------------------ approvals


DELETE = plan(
    "agent.get('a')", "try:", "    agent.delete('a')", "except OSError as e:", "    return str(e)", "return 'done'"
)


def decisions(folder):
    return [(e.tool, e.allowed, e.by, e.pattern) for e in events(folder, CallDecided)]


@pytest.mark.parametrize(
    ("patterns", "value", "decided"),
    [
        ({}, "done", []),
        (
            {"allow": "delet?", "ask": "delete", "approve": lambda call: True},
            "done",
            [("delete", True, "approver", "delete")],
        ),
    ],
)
def test_patterns_decide_about_calls_and_each_decision_is_on_the_trace(patterns, value, decided, tmp_path):
    store = Store()
    result, _ = do(DELETE, tools=store, out=tmp_path, **patterns)
    assert (result.value, decisions(tmp_path)) == (value, decided)
    assert ("a" not in store.rows) == (value == "done")


def test_whoever_approves_sees_the_call_and_is_asked_about_all_without_a_pattern(tmp_path):
    asked = []

    async def approve(call):
        asked.append((call.tool, call.arguments))
        return call.tool == "get"

    result, _ = do(DELETE, approve=approve, out=tmp_path)
    assert asked == [("get", {"key": "a"}), ("delete", {"key": "a"})]
    assert result.value == "the user did not approve this call of delete"
    assert [d[:3] for d in decisions(tmp_path)] == [("get", True, "approver"), ("delete", False, "approver")]


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"goal": "  "}, "the goal is empty"),
        ({"tools": []}, "there are no tools"),
        ({"tools": 3}, "a value of the type int offers no tools"),
        ({"tools": "missing.py"}, "there is no file 'missing.py'"),
        ({"verify": 3}, r"verify must be a function verify\(value, tools\), not 3"),
        ({"verify": "missing.py:f"}, "there is no file 'missing.py'"),
        ({"mcp_config": 3}, "mcp_config is the path of a JSON file, not 3"),
        ({"mcp": {"mcpServers": {}}}, "servers by name go into a JSON file, given as mcp_config"),
        ({"goal": 3, "tools": []}, "the goal is a text, not 3|there are no tools"),
        ({"tool_errors": "ignore"}, "tool_errors is plan or stop, not 'ignore'"),
        ({"model": "scripted"}, "the scripted stand-in knows codeplan's own environments only"),
        ({"nonsense": 1}, "there is no setting 'nonsense' for adaplanner"),
        ({"temperature": 1}, "a model that is a function or an object of yours has no setting 'temperature'; --model"),
        (
            {"max_actions": 1},
            r"to limit the actions, give --max-actions N, in Python budget=codeplan.Budget\(actions=N",
        ),
        ({"model_calls": 1}, "to limit the model calls, give --max-model-calls N"),
        ({"max_refinements": 1}, r"to limit the refinements, give budget=codeplan.Budget\(refinements=N\)"),
    ],
    ids=lambda v: next(iter(v)) if isinstance(v, dict) else "",
)
def test_wrong_input_is_refused_in_a_sentence(options, why):
    given = {"goal": "add up", "tools": Store(), "model": Replies(TOTAL)} | options
    with pytest.raises(UsageError, match=why) as caught:
        codeplan.do(given.pop("goal"), **given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mcp", [3, [3]])
def test_what_is_no_address_of_a_server_is_refused(mcp):
    with pytest.raises(UsageError, match="^an MCP server is a command or a URL, not 3$"):
        do(TOTAL, mcp=mcp)


# ------------------------------------------------------------------ the handler of events


class Boom(Exception):
    pass


def test_what_a_handler_raises_at_any_event_ends_the_episode_as_it_is(tmp_path):
    """Some events happen while a plan calls a tool or asks the model; neither is to blame."""
    asking = plan("found = agent.get('a')", "ask_llm('more?')", "assert found == 3, 'Error in [Step 1]: none'")
    given = {"verify": lambda value: True, "approve": lambda call: True}
    kinds = []
    do(asking, "no", on_event=lambda event: kinds.append(type(event).__name__), **given)
    assert {"CallDecided", "CallBegun", "CallAnswered", "ModelCalled", "ValueJudged"} <= {*kinds}

    for number, kind in enumerate(kinds):
        left = [number]

        def on_event(event, left=left, kind=kind):
            left[0] -= 1
            if left[0] == -1:
                raise Boom(kind)

        with pytest.raises(Boom, match=kind):
            do(asking, "no", on_event=on_event, out=tmp_path / str(number), **given)
        endings = [e.result.ending for e in events(tmp_path / str(number), EpisodeEnded)]
        crashed = [Crashed("Boom", kind)] if number else []  # an episode that has not begun has no ending
        assert endings == ([Success()] if kind == "EpisodeEnded" else crashed)


def test_no_plan_sees_or_sets_the_arguments_of_a_partial_function(tmp_path):
    def transfer(amount: float, account: str) -> str:
        return f"{amount} from {account[:1]}"

    theirs = ("try:", "    agent.transfer(1.0, **{'account': 'theirs'})", "except RuntimeError:", "    pass")
    bound = functools.partial(transfer, account="my-secret-key")
    result, model = do(plan(*theirs, "return agent.transfer(2.0)"), tools=[bound], out=tmp_path)
    assert result.value == "2.0 from m"
    assert "secret" not in (tmp_path / "trace.jsonl").read_text() + str(model.asked)
