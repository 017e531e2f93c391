"""Which of many tools a prompt shows in full: those that fit the goal. The others take one line each.

Plans read the rest with ``agent.describe(name)``; the check of a plan knows every signature.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from codeplan.agent_interface import describe_api
from codeplan.tools.tool import Tool
from codeplan.tools.toolset import Toolset
from codeplan.types import AgentApi, AgentMethod, AgentParameter

MAX_API_CHARS = 40_000
"""Maximum length of the tools in a prompt, in characters, about 10,000 tokens. If all fit, all are shown in full."""

MIN_FULL_CHARS = 10_000
"""Minimum room for tools in full, in characters, even if the lines for the others fill the rest."""

DESCRIBE = AgentMethod(
    "describe", "(name: str) -> str", "A tool's signature and documentation.", (AgentParameter("name"),)
)
"""The agent's own method, if not all tools are shown in full."""

_WORD = re.compile(r"[a-z]+|[0-9]+")
_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MAX_READ = 2_000  # characters of a description that decide whether it fits


def shown_api(toolset: Toolset, goal: str) -> AgentApi:
    """The toolset's API with the names of the tools that a prompt shows on one line only."""
    api = toolset.api
    texts = {tool.name: tool_text(tool) for tool in toolset.tools}
    if sum(map(len, texts.values())) <= MAX_API_CHARS:
        return api
    ranked = rank(toolset.tools, goal)
    room = max(MIN_FULL_CHARS, MAX_API_CHARS - sum(len(t.method.first_line) for t in ranked))
    brief: list[Tool] = []
    for tool in ranked:
        if len(texts[tool.name]) <= room:
            room -= len(texts[tool.name])
        else:
            brief.append(tool)
    names = {tool.name for tool in brief}
    types = dict.fromkeys(t for tool in toolset.tools if tool.name not in names for t in tool.types)
    methods = (*api.methods, DESCRIBE)
    return msgspec.structs.replace(api, methods=methods, types=tuple(types), brief=tuple(t.name for t in brief))


def tool_text(tool: Tool) -> str:
    """A tool's signature, documentation and types, as a prompt shows them in full."""
    return describe_api(AgentApi((tool.method,), types=tool.types))


def rank(tools: Sequence[Tool], goal: str) -> list[Tool]:
    """The tools by how well they fit the goal, best first; equal ones in their order.

    A word that the goal and a tool share counts more if few tools have it, and twice if it is in the tool's name.
    """
    words = [(_stems(t.name), _stems(f"{t.name} {t.method.doc[:_MAX_READ]}")) for t in tools]
    frequency = Counter(word for _, found in words for word in found)
    wanted = _stems(goal)

    def score(names: Iterable[str], found: Iterable[str]) -> float:
        weight = {word: math.log(1 + len(tools) / frequency[word]) for word in wanted & {*names, *found}}
        return sum(weight.values()) + sum(weight[word] for word in wanted.intersection(names))

    scores = [score(names, found) for names, found in words]
    return [tools[at] for at in sorted(range(len(tools)), key=lambda at: -scores[at])]


def _stems(text: str) -> set[str]:
    """The words of a text without the endings of plurals; parts of names count as words."""
    return {word.removesuffix("s") for word in _WORD.findall(_CASE.sub(" ", text).lower())}
