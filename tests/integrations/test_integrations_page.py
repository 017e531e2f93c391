"""The blocks of docs/integrations.md run as they are printed, with a scripted model."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy", reason="the page imports numpy")
pytest.importorskip("smolagents", reason="the extra smolagents is not installed")
pytest.importorskip("pydantic_ai", reason="the extra pydantic-ai is not installed")
from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from smolagents import ChatMessage, Model, tool

PAGE = Path(__file__).parents[2] / "docs" / "integrations.md"
IN_SMOLAGENTS, AS_A_TOOL = re.findall(
    r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)


class Scripted(Model):
    """Writes one snippet."""

    def generate(self, messages: Any, **options: Any) -> ChatMessage:
        code = "import numpy as np\nfinal_answer(search('nut') * int(np.array([1, 2]).sum()))"
        return ChatMessage(role="assistant", content=f"Thought: on.\n<code>\n{code}\n</code>")


@tool
def search(word: str) -> str:
    """Finds a word.

    Args:
        word: what to find
    """
    return f"{word}!"


def look_up(word: str) -> str:
    """Finds a word."""
    return f"{word}?"


def weather(city: str) -> str:
    """The weather of a city."""
    return f"rain in {city}"


def test_a_code_agent_runs_in_the_cage() -> None:
    names: dict[str, Any] = {"search": search, "model": Scripted(model_id="scripted")}
    exec(IN_SMOLAGENTS, names)
    names["agent"].logger.level = 0
    assert names["agent"].run("count") == "nut!nut!nut!"


def test_an_agent_gets_a_tool_that_runs_code() -> None:
    def reply(messages: Any, info: Any) -> ModelResponse:
        if len(messages) > 1:
            return ModelResponse([TextPart(messages[-1].parts[-1].model_response_str())])
        return ModelResponse([ToolCallPart("run_python", {"code": "look_up('x') + weather('Cork')"})])

    names: dict[str, Any] = {"Agent": Agent, "model": FunctionModel(reply), "search": look_up, "weather": weather}
    exec(AS_A_TOOL, names)
    assert "x?rain in Cork" in asyncio.run(names["agent"].run("go")).output
