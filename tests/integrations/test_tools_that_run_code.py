"""The cage as a tool of Pydantic AI, LangChain and the OpenAI Agents SDK: answers, errors, bugs of a tool's own."""

from __future__ import annotations

import asyncio
import importlib
import json

import pytest

from codeplan.errors import UsageError
from codeplan.sandbox import Limits

FRAMEWORKS = {"pydantic_ai": "pydantic_ai", "langchain": "langchain_core", "openai_agents": "agents"}


def stock(item: str, shelf: int = 1) -> int:
    """How many of an item there are."""
    return len(item) * shelf


async def price(item: str) -> float:
    """What an item costs."""
    await asyncio.sleep(0)
    return 1.5


def broken() -> str:
    """Does not work."""
    raise KeyError("drawer")


CODE = "def total(items):\n    return sum(stock(i) * price(i) for i in items)\nprint('so:')\ntotal(['nut', 'bolt'])"
FAILING = "n = stock('nut')\nprint('counted')\n1 / (n - 3)"


def tool_of(framework, tools, **options):
    pytest.importorskip(FRAMEWORKS[framework], reason=f"the extra {framework} is not installed")
    return importlib.import_module(f"codeplan.integrations.{framework}").python_tool(tools, **options)


def answer_of(framework, code, tools=(stock, price, broken), **options):
    """What the framework's own loop hands to the model for one call, and whether it is marked as an error."""
    return globals()[f"_by_{framework}"](tool_of(framework, [*tools], **options), code)


def _by_langchain(tool, code):
    message = tool.invoke({"name": tool.name, "args": {"code": code}, "id": "1", "type": "tool_call"})
    return message.content, message.status == "error"


def _by_pydantic_ai(tool, code):
    from pydantic_ai import Agent, ModelResponse, RetryPromptPart, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    seen = []

    def reply(messages, info):
        seen.append(messages[-1].parts[-1])
        return ModelResponse([ToolCallPart(tool.name, {"code": code}) if len(seen) == 1 else TextPart("done")])

    asyncio.run(Agent(FunctionModel(reply), tools=[tool]).run("go"))
    part = seen[1]
    is_error = isinstance(part, RetryPromptPart) or part.outcome != "success"
    return part.model_response() if isinstance(part, RetryPromptPart) else part.model_response_str(), is_error


def _by_openai_agents(tool, code):
    from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    set_tracing_disabled(True)
    seen = []

    class Scripted(Model):
        async def get_response(self, system_instructions, input, *args, **kwargs):
            seen.append(input)
            call = ResponseFunctionToolCall(arguments=json.dumps({"code": code}), call_id="1", name=tool.name, type="function_call")  # fmt: skip
            text = ResponseOutputText(annotations=[], text="done", type="output_text", logprobs=[])
            said = ResponseOutputMessage(id="2", content=[text], role="assistant", status="completed", type="message")
            return ModelResponse(output=[call if len(seen) == 1 else said], usage=Usage(), response_id=None)

        def stream_response(self, *args, **kwargs):
            raise NotImplementedError

    asyncio.run(Runner.run(Agent(name="x", model=Scripted(), tools=[tool]), "go"))
    output = seen[1][-1]["output"]
    return output, output.startswith("An error occurred while running the tool:")


each = pytest.mark.parametrize("framework", FRAMEWORKS)


@each
def test_code_over_the_users_functions_answers_with_its_value_and_what_it_printed(framework):
    said, is_error = answer_of(framework, CODE)
    assert (json.loads(said), is_error) == ({"printed": "so:\n", "value": 10.5}, False)


@each
def test_a_whole_plan_runs_too(framework):
    said, _ = answer_of(framework, "def solution(agent, start_from=1):\n    if start_from <= 1:\n        return agent.stock('nut')\n")  # fmt: skip
    assert json.loads(said)["value"] == 3


@each
def test_code_that_fails_is_an_error_with_its_line_and_a_word_about_the_calls_before(framework):
    said, is_error = answer_of(framework, FAILING)
    assert is_error
    assert "ZeroDivisionError: division by zero (at `return 1 / (n - 3)`)" in said
    assert "do not repeat those that act" in said and "counted" in said


@each
@pytest.mark.parametrize("code", ["import socket\nsocket.socket()", "open('/etc/passwd')", "x = (", "missing"])
def test_refused_code_is_an_error_and_none_of_it_runs(framework, code):
    said, is_error = answer_of(framework, f"{code}\nstock('nut')")
    assert is_error and "refused, and nothing of it ran" in said


@each
def test_a_tools_own_exception_is_an_error_and_shown_to_its_developer(framework, capsys):
    said, is_error = answer_of(framework, "broken()")
    assert is_error and "KeyError: 'drawer'" in said
    assert 'raise KeyError("drawer")' in capsys.readouterr().err


@each
def test_a_value_that_cannot_be_handed_over_is_said_beside_what_was_printed(framework):
    said, is_error = answer_of(framework, "print('made')\nlambda: 1")
    assert not is_error
    assert json.loads(said) == {
        "printed": "made\n",
        "value": None,
        "note": "what the plan returned cannot be handed over: a function cannot be saved; return plain data, such as "
        "a list, a dict, a text or a number",
    }


@each
@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("(1, {2}, b'x', {3: 4})", [1, "{2}", "b'x'", "{3: 4}"]),
        ("print(chr(0xd800))\n'a' + chr(0xdfff)", "a\\udfff"),
        ("[0] * 100_000", None),
        ("float('nan')", "nan"),
    ],
)
def test_any_value_arrives_as_json_data(framework, code, value):
    said, is_error = answer_of(framework, code)
    assert not is_error
    assert json.loads(said)["value"] == value
    assert (value is None) == ("note" in json.loads(said))


@each
def test_an_error_in_words_that_are_no_text_is_an_error(framework):
    said, is_error = answer_of(framework, "raise ValueError(chr(0xd800))")
    assert is_error and "ValueError: " in said and "ud800" in said


@each
def test_options_of_execute_hold_for_the_calls(framework):
    said, is_error = answer_of(framework, "stock('nut')", ask=["stock"])
    assert is_error and "approval" in said
    assert answer_of(framework, "stock('nut')", ask=["stock"], approve=lambda call: True)[1] is False


@each
def test_a_limit_of_time_ends_the_code(framework):
    said, is_error = answer_of(framework, "while True: pass", limits=Limits(wall=0.3))
    assert is_error and "longer than" in said


@each
def test_no_model_answers_questions_of_the_code(framework):
    said, is_error = answer_of(framework, "ask_llm('who is there?')")
    assert is_error


@each
def test_the_models_description_has_signatures_and_texts(framework):
    said = tool_of(framework, [stock, price]).description
    assert 'def stock(item: str, shelf: int = 1) -> int:\n    """How many of an item there are."""' in said


@each
def test_wrong_tools_and_options_are_told_when_the_tool_is_made(framework):
    with pytest.raises(UsageError, match="there are no tools"):
        tool_of(framework, [])
    with pytest.raises(UsageError, match="no_such_package"):
        tool_of(framework, [stock], imports="no_such_package")


def test_code_that_calls_nothing_before_it_fails_is_a_retry_for_pydantic_ai_and_otherwise_a_failed_call():
    pydantic_ai = pytest.importorskip("pydantic_ai", reason="the extra pydantic-ai is not installed")
    run = tool_of("pydantic_ai", [stock]).function
    with pytest.raises(pydantic_ai.ModelRetry):
        run("1 / 0")
    with pytest.raises(pydantic_ai.ToolFailed):
        run(FAILING)


@each
def test_errors_of_the_users_settings_end_the_run_instead_of_reaching_the_model(framework):
    with pytest.raises(Exception, match="tool_errors is plan or stop"):
        answer_of(framework, "stock('nut')", tool_errors="no")
