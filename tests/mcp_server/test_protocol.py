"""The server as the official client sees it, in both eras of the protocol, without a transport."""

import asyncio
import json
from contextlib import asynccontextmanager
from functools import partial

import jsonschema
import pytest
from mcp import Client, MCPError
from mcp_types import ElicitResult
from support.plan_server import COUNTS, KIWI, PLAN, SELL, STEP_2, Shop, plan_runner

from codeplan import approve, replay
from codeplan.errors import UsageError
from codeplan.flows import Flows, goal
from codeplan.mcp_server import live_runs
from codeplan.mcp_server.answers import OFFERED
from codeplan.mcp_server.server import PlanService, make_server
from codeplan.recording.trace import Trace
from codeplan.skills import SkillLibrary
from codeplan.skills.parameter_binding import PARAMETERS_CLOSING, PARAMETERS_OPENING
from codeplan.skills.skill import Skill

ERAS = ("legacy", "auto")


@pytest.fixture
def shop():
    return Shop()


@pytest.fixture
def runner(tmp_path, shop):
    with plan_runner(tmp_path / "runs", shop, sources={"ask": ("sell",)}) as made:
        yield made


@asynccontextmanager
async def connected(runner, mode="auto", skills=None, at_once=4, **options):
    service = PlanService(runner, skills, at_once)
    try:
        async with Client(make_server(service), mode=mode, **options) as client:
            yield client
    finally:
        await service.close()


def call(runner, tool, arguments, **options):
    """The result of one call."""

    async def main():
        async with connected(runner, **options) as client:
            return await client.call_tool(tool, arguments)

    return asyncio.run(main())


def answer(allow=True, action="accept"):
    asked = []

    async def on_question(context, params):
        asked.append(params.message)
        return ElicitResult(action=action, content={"allow": allow} if action == "accept" else None)

    return asked, on_question


@pytest.mark.parametrize("mode", ERAS)
def test_the_tools_have_schemas_and_the_server_says_what_a_plan_is(runner, mode):
    async def main():
        async with connected(runner, mode) as client:
            tools = {t.name: t for t in (await client.list_tools()).tools}
            return tools, client.instructions

    tools, instructions = asyncio.run(main())
    assert set(tools) == {"describe_tools", "check_plan", "run_plan", "resume_plan"}
    assert "def solution(agent, start_from=1):" in instructions and "ask_llm" not in instructions
    assert "fenced python block" not in instructions and len(instructions) < 6_000
    for tool in tools.values():
        schemas = [tool.input_schema, tool.output_schema]
        assert (schemas[1] is None) == (tool.name == "describe_tools")  # a text comes once
        for schema in filter(None, schemas):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
    assert tools["check_plan"].annotations.read_only_hint and not tools["run_plan"].annotations.read_only_hint


@pytest.mark.parametrize("mode", ERAS)
def test_a_plan_fails_and_its_changed_step_finishes(runner, mode, shop):
    async def main():
        async with connected(runner, mode) as client:
            failed = await client.call_tool("run_plan", {"plan": KIWI, "goal": "count"})
            run = failed.structured_content["run"]
            return failed, await client.call_tool("resume_plan", {"run": run, "plan": STEP_2})

    failed, done = asyncio.run(main())
    assert not failed.is_error and failed.structured_content["failure"]["step"] == 2
    assert done.structured_content["value"] == COUNTS and done.structured_content["started_from"] == 2
    assert json.loads(done.content[0].text) == done.structured_content


def test_answers_fit_the_schemas(runner):
    async def main():
        kinds = set()
        async with connected(runner) as client:
            tools = {t.name: t.output_schema for t in (await client.list_tools()).tools}
            for name, arguments in (
                ("run_plan", {"plan": KIWI}),
                ("run_plan", {"plan": PLAN}),
                ("run_plan", {"plan": "nonsense"}),
                ("check_plan", {"plan": PLAN}),
                ("check_plan", {"plan": "x"}),
            ):
                found = (await client.call_tool(name, arguments)).structured_content
                jsonschema.validate(found, tools[name])  # raises an error otherwise
                kinds.add((name, *sorted(found)))
        return kinds

    assert len(asyncio.run(main())) == 5, "each of these answers has fields of its own"


def test_tools_are_described_all_or_some(runner):
    everything = call(runner, "describe_tools", {}).content[0].text
    assert "def count(self, fruit: str) -> int:" in everything and "def report(self)" in everything
    one = call(runner, "describe_tools", {"names": ["count"]}).content[0].text
    assert "def count" in one and "def sell" not in one
    wrong = call(runner, "describe_tools", {"names": ["steal"]})
    assert wrong.is_error and "there is no tool 'steal'" in wrong.content[0].text


def test_skills_are_found_in_a_library(runner, tmp_path):
    library = SkillLibrary(tmp_path / "skills")
    library.add(Skill("count-fruits", "tools", PLAN, "goal", "Counts fruits.", status="active"))
    library.add(Skill("clean-lettuce", "household", PLAN, "clean", "Cleans lettuce.", status="active"))
    found = call(runner, "find_skills", {"goal": "count all fruits"}, skills=library).structured_content["skills"]
    assert [(s["name"], s["plan"]) for s in found] == [("count-fruits", PLAN)]


FRUITS = f"""def solution(agent, start_from=1):
    {PARAMETERS_OPENING} count kiwis
    fruit = "kiwis"
    {PARAMETERS_CLOSING}
    if start_from <= 1:
        print('[Step 1] count them')
        n = agent.count(fruit)
        assert n, 'none'
    return n
"""


def test_an_active_skill_runs_with_the_clients_values(runner, tmp_path):
    library = SkillLibrary(tmp_path / "skills")
    count = library.add(Skill("count-fruits", "tools", FRUITS, parameters=("fruit",), status="active"))
    run = partial(call, runner, "run_skill", skills=library)
    done = run({"skill": "count-fruits", "values": {"fruit": "pears"}}).structured_content
    direct = call(runner, "run_plan", {"plan": FRUITS.replace('fruit = "kiwis"', 'fruit = "pears"')}).structured_content
    assert (done["ended"], done["value"]) == (direct["ended"], direct["value"])
    for arguments, why in (
        ({"skill": "count-fruits"}, "there is no value for fruit"),
        ({"skill": "count-fruits", "values": {"fruit": 3}}, "fruit is a text"),
        ({"skill": "count-fruits", "values": {"fruit": "a", "n": 1}}, "'n' is no parameter"),
        ({"skill": "../x", "values": {}}, "is not a valid name"),
        ({"skill": "other", "values": {}}, "there is no skill tools/other"),
    ):
        refused = run(arguments)
        assert refused.is_error and why in refused.content[0].text, refused.content[0].text
    library.change(count, status="candidate")
    assert "is candidate; its owner" in run({"skill": "count-fruits", "values": {"fruit": "pears"}}).content[0].text


# ------------------------------------------------------------------ approvals, progress, cancellation


@pytest.mark.parametrize("mode", ERAS)
def test_the_clients_user_is_asked(runner, mode, shop):
    asked, on_question = answer()
    done = call(runner, "run_plan", {"plan": SELL}, mode=mode, elicitation_callback=on_question)
    assert done.structured_content["ended"] == "finished" and "sell pears" in shop._calls
    assert asked == ["The plan calls sell(fruit='pears') in line 11. Allow it?"]


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("given", [{"allow": False}, {"action": "decline"}, {"action": "cancel"}, {"allow": "true"}])
def test_only_a_clear_yes_allows_a_call(runner, mode, shop, given):
    asked, on_question = answer(**given)
    refused = call(runner, "run_plan", {"plan": SELL}, mode=mode, elicitation_callback=on_question)
    assert "did not approve" in refused.structured_content["failure"]["message"]
    assert len(asked) == 1 and "sell pears" not in shop._calls


@pytest.mark.parametrize("mode", ERAS)
def test_a_run_of_a_client_that_cannot_ask_waits_for_an_answer_on_the_machine(
    runner, mode, shop, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    async def main():
        async with connected(runner, mode) as client:
            waits = (await client.call_tool("run_plan", {"plan": SELL})).structured_content
            given = {"run": waits["run"], "plan": SELL}
            again = (await client.call_tool("resume_plan", given)).structured_content
            calls = list(shop._calls)
            approve(runner.folders.path(waits["run"]))
            done = (await client.call_tool("resume_plan", given)).structured_content
            return waits, again, calls, done

    waits, again, calls, done = asyncio.run(main())
    folder = runner.folders.path(waits["run"])
    assert (waits["ended"], waits["failure"]["error"]) == ("waiting", "waiting")
    assert "approval of the call sell(fruit='pears'), which was not made" in waits["note"]
    assert f"codeplan approve {folder}." in waits["note"] and waits["run"] in waits["note"]
    assert again == waits and "sell pears" not in calls
    assert (done["ended"], done["run"]) == ("finished", waits["run"])
    assert shop._calls == [*calls, "sell pears"]
    assert replay(folder).value == done["value"]


def test_the_reason_of_the_clients_user_reaches_the_plan(runner, shop):
    async def on_question(context, params):
        return ElicitResult(action="accept", content={"allow": False, "reason": "not on Sunday"})

    refused = call(runner, "run_plan", {"plan": SELL}, elicitation_callback=on_question)
    assert refused.structured_content["failure"]["message"].endswith("this call of sell: not on Sunday")
    assert "sell pears" not in shop._calls


@pytest.mark.parametrize(("always", "times"), [("no", 3), ("equal calls", 2), ("all calls of this tool", 1)])
def test_an_answer_may_hold_for_later_calls_of_the_run(tmp_path, shop, always, times):
    asked = []

    async def on_question(context, params):
        asked.append(params)
        return ElicitResult(action="accept", content={"allow": True, "always": always})

    three = PLAN.replace("for name in sorted(names)", "for name in ('pears', 'pears', 'apples')")
    with plan_runner(tmp_path / "runs", shop, sources={"ask": ("count",)}) as runner:
        done = call(runner, "run_plan", {"plan": three}, elicitation_callback=on_question)
    assert done.structured_content["value"] == COUNTS
    assert len(asked) == times and always in asked[0].requested_schema["properties"]["always"]["enum"]


def test_the_question_says_why_the_flows_ask_and_offers_no_answer_for_the_tool(tmp_path, shop):
    asked = []

    async def on_question(context, params):
        asked.append(params)
        return ElicitResult(action="accept", content={"allow": False})

    flows = Flows(rules={"sell.fruit": goal}, readonly=["fruits", "count"])
    first = SELL.replace("agent.sell('pears')", "agent.sell(sorted(names)[0])")
    with plan_runner(tmp_path / "runs", shop, sources={"flows": flows}) as runner:
        call(runner, "run_plan", {"plan": first}, elicitation_callback=on_question)
    assert "The flows ask, because fruit comes from fruits. Allow it?" in asked[0].message
    assert asked[0].requested_schema["properties"]["always"]["enum"] == ["no", "equal calls"]


@pytest.mark.parametrize("mode", ERAS)
def test_several_questions_of_a_plan_come_one_by_one(runner, mode, shop):
    asked, on_question = answer()
    both = SELL.replace("agent.sell('pears')", "agent.sell('pears'), agent.sell('apples')")
    done = call(runner, "run_plan", {"plan": both}, mode=mode, elicitation_callback=on_question)
    assert done.structured_content["ended"] == "finished" and len(asked) == 2


def test_a_question_that_nobody_answers_is_a_refusal(runner, shop, monkeypatch):
    monkeypatch.setattr(live_runs, "APPROVAL_SECONDS", 0.2)

    async def never(context, params):
        await asyncio.sleep(1)
        return ElicitResult(action="accept", content={"allow": True})

    refused = call(runner, "run_plan", {"plan": SELL}, mode="legacy", elicitation_callback=never)
    assert "did not approve" in refused.structured_content["failure"]["message"]
    assert "sell pears" not in shop._calls


def test_an_answer_to_no_question_is_refused(runner):
    async def main():
        async with connected(runner) as client:
            with pytest.raises(MCPError):
                await client.call_tool("run_plan", {"plan": PLAN}, request_state="made up")

    asyncio.run(main())


@pytest.mark.parametrize("mode", ERAS)
def test_steps_are_progress(runner, mode):
    seen = []

    async def on_progress(progress, total, message):
        seen.append((progress, total, message))

    async def main():
        async with connected(runner, mode) as client:
            await client.call_tool("run_plan", {"plan": PLAN}, progress_callback=on_progress)

    asyncio.run(main())
    assert seen == [(1, 2, "[Step 1] list the fruits"), (2, 2, "[Step 2] count them")]


@pytest.mark.parametrize("mode", ERAS)
def test_a_cancelled_call_ends_its_plan(runner, mode, shop):
    looping = (
        "def solution(agent, start_from=1):\n    if start_from <= 1:\n        while True:\n            agent.fruits()\n"
    )

    async def main():
        async with connected(runner, mode, at_once=1) as client:
            running = asyncio.ensure_future(client.call_tool("run_plan", {"plan": looping}))
            while len(shop._calls) < 3:
                await asyncio.sleep(0.01)
            running.cancel()
            await asyncio.wait([running])
            return (await client.call_tool("run_plan", {"plan": PLAN})).structured_content

    assert asyncio.run(main())["ended"] == "finished"  # the one slot is free again
    (cut, _) = sorted(runner.folders.root.iterdir(), key=lambda f: (f / "trace.jsonl").stat().st_mtime)
    assert '"broken_off":true' in (cut / "trace.jsonl").read_text()


@pytest.mark.parametrize("tool", ["run_plan", "resume_plan", "check_plan"])
def test_a_plan_that_is_far_too_long_does_not_wait(runner, shop, tool):
    """Two hundred waiting ones would fill the memory."""
    held, names = PLAN.replace("agent.fruits()", "agent.hold()"), {} if tool != "resume_plan" else {"run": "x"}

    async def main():
        async with connected(runner, at_once=1) as client:
            running = asyncio.ensure_future(client.call_tool("run_plan", {"plan": held}))
            while "hold" not in shop._calls:
                await asyncio.sleep(0.01)
            refused = await client.call_tool(tool, {"plan": "x" * 200_001, **names})
            shop._open.set()
            await running
            return refused

    refused = asyncio.run(asyncio.wait_for(main(), 50))
    assert refused.is_error and "write at most 200,000" in refused.content[0].text


# ------------------------------------------------------------------ hostile clients


HOSTILE = {
    "no arguments": ("run_plan", {}, "missing required field `plan`"),
    "a number for a plan": ("run_plan", {"plan": 7}, "Expected `str`"),
    "an unknown argument": ("run_plan", {"plan": PLAN, "rights": "all"}, "unknown field `rights`"),
    "a long name of an argument": ("run_plan", {"plan": PLAN, "x" * 100_000: 1}, "do not fit"),
    "an empty plan": ("run_plan", {"plan": ""}, None),
    "10 MB": ("run_plan", {"plan": "x = 1\n" * 1_700_000}, "write at most"),
    "a null character": ("run_plan", {"plan": PLAN + "\0"}, None),
    "half a surrogate pair": ("run_plan", {"plan": PLAN + "# \ud800"}, None),
    "a huge goal": ("run_plan", {"plan": PLAN, "goal": "g" * 1_000_000}, "the goal has"),
    "a path for a run": ("resume_plan", {"run": "../../../etc/passwd", "plan": PLAN}, "there is no run"),
    "many names": ("describe_tools", {"names": ["count"] * 10_000}, "do not fit"),
    "names of escapes": ("describe_tools", {"names": ["\x1b]0;x\x07\n"]}, "there is no tool"),
}


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_call_is_one_sentence_and_the_server_lives_on(runner, mode, name, capsys):
    tool, arguments, message = HOSTILE[name]

    async def main():
        async with connected(runner, mode) as client:
            result = await client.call_tool(tool, arguments)
            return result, (await client.call_tool("run_plan", {"plan": PLAN})).structured_content

    result, after = asyncio.run(main())
    said = result.content[0].text
    if message is None:
        assert result.structured_content["ended"] == "refused"
    else:
        assert result.is_error and message in said and "\n" not in said and len(said) < 2_000
    assert "Traceback" not in said + capsys.readouterr().err
    assert "\x1b" not in said and after["ended"] == "finished"


@pytest.mark.parametrize("mode", ERAS)
def test_an_unknown_tool_is_an_error_of_the_protocol(runner, mode):
    async def main():
        async with connected(runner, mode) as client:
            with pytest.raises(MCPError, match="there is no tool 'steal'; there are: describe_tools"):
                await client.call_tool("steal", {})

    asyncio.run(main())


def test_a_plan_that_prints_and_returns_odd_texts_is_answered(runner):
    odd = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        print('\\ud800 \\x1b[2J')\n        assert agent\n    return {'\\udfff': ['\\ud800', 1e999, 10 ** 5000, b'x', {1, 2}]}\n"
    found = call(runner, "run_plan", {"plan": odd})
    assert found.structured_content["ended"] == "finished" and not found.is_error
    json.dumps(found.structured_content, allow_nan=False).encode()


def test_many_calls_at_once_are_run_or_refused(runner):
    count = live_runs.MAX_WAITING + 60

    async def main():
        async with connected(runner, at_once=2) as client:
            plans = (client.call_tool("run_plan", {"plan": PLAN}) for _ in range(count))
            return await asyncio.gather(*plans)

    results = asyncio.run(main())
    refused = [r.content[0].text for r in results if r.is_error]
    done = [r for r in results if not r.is_error]
    assert len(done) == live_runs.MAX_WAITING + 2 and all(r.structured_content["value"] == COUNTS for r in done)
    assert len(refused) == count - len(done) and set(refused) == {"2 plans run and 200 wait; send this one again later"}


MANY = {f"a{i}": i for i in range(1_500)}
READ = {
    "null for an optional text": ("run_plan", {"plan": PLAN, "goal": None}),
    "null for an optional list": ("describe_tools", {"names": None}),
    "null for an unknown name": ("describe_tools", {"limit": None}),
    "a list in a JSON text": ("describe_tools", {"names": '["count"]'}),
    "an indented list in a text": ("describe_tools", {"names": '[\n  "count",\n  "sell"\n]\n'}),
    "an empty list in a text": ("describe_tools", {"names": "[]"}),
    "null in a text": ("describe_tools", {"names": "null"}),
    "an empty text for a list": ("describe_tools", {"names": ""}),
    "a goal that is JSON": ("run_plan", {"plan": PLAN, "goal": '["count"]'}),
    "a goal that is null in words": ("run_plan", {"plan": PLAN, "goal": "null"}),
}


@pytest.mark.parametrize(("tool", "arguments"), READ.values(), ids=READ)
def test_arguments_as_some_models_write_them_are_read(runner, tool, arguments):
    found = call(runner, tool, arguments)
    assert not found.is_error, found.content[0].text
    if tool == "run_plan":
        assert found.structured_content["value"] == COUNTS
        header = Trace.read(runner.folders.path(found.structured_content["run"]) / "trace.jsonl")[0]
        assert header.task.goal == (arguments["goal"] or "what the client's plan does")
    else:
        names = json.loads(arguments.get("names") or "null") if arguments.get("names") != [] else None
        assert ("def report" in found.content[0].text) == (not names)


@pytest.mark.parametrize("limit", [2, 2.0, "2", "2.0", " 2 "])
def test_a_number_may_come_as_a_text(runner, tmp_path, limit):
    library = SkillLibrary(tmp_path / "skills")
    for number in range(3):
        library.add(Skill(f"count-{number}", "tools", PLAN, "goal", f"Counts fruits, way {number}.", status="active"))
    found = call(runner, "find_skills", {"goal": "count fruits", "limit": limit}, skills=library)
    assert len(found.structured_content["skills"]) == 2


MISFITS = {
    "null for what is required": ("run_plan", {"plan": None}, "missing required field `plan`"),
    "a word for a list": ("describe_tools", {"names": "count"}, "Expected `array`"),
    "an object for a list": ("describe_tools", {"names": '{"count": 1}'}, "Expected `array`"),
    "a list with null": ("describe_tools", {"names": [None]}, "Expected `str`"),
    "half a list": ("describe_tools", {"names": '["count"'}, "Expected `array`"),
    "a list for a text": ("run_plan", {"plan": ["def solution"]}, "Expected `str`"),
    "a list in a text, too long": ("describe_tools", {"names": json.dumps([*MANY])}, "more than 1,000 values"),
    "a deep list in a text": ("describe_tools", {"names": "[" * 900 + "]" * 900}, "do not fit"),
    "an unknown name": ("describe_tools", {"tools": []}, "unknown field"),
}


@pytest.mark.parametrize(("tool", "arguments", "said"), MISFITS.values(), ids=MISFITS)
def test_arguments_that_cannot_be_meant_are_refused(runner, tool, arguments, said):
    found = call(runner, tool, arguments)
    assert found.is_error and said in found.content[0].text


def test_half_a_surrogate_pair_for_a_list_is_refused_in_a_sentence():
    (tool,) = (t for t in OFFERED if t.name == "describe_tools")
    with pytest.raises(UsageError, match="not UTF-8"):
        tool.read({"names": "\ud800"})
