"""What reads a model's, a plan's or a page's text takes linear time: on every text that was thought of, at the cap."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.steps import count_lines

from codeplan.envs import hotpotqa, household, webshop
from codeplan.envs.hotpotqa.scoring import score_answer
from codeplan.envs.household.engine import explain_failure, try_action
from codeplan.envs.household.generator import generate_game
from codeplan.envs.miniwob.actions import parse_action as parse_browser_action
from codeplan.envs.scienceworld.agent import ScienceWorldAgent, resolve_name
from codeplan.envs.textcraft import environment as textcraft
from codeplan.envs.textcraft.agent import TextCraftAgent
from codeplan.envs.textcraft.environment import recipe_book
from codeplan.episode.replayable import MAX_REPLY_CHARS
from codeplan.errors import AgentError
from codeplan.llm.openai_protocol import cut_at_stop, parse_chat
from codeplan.planning.decomposition import DecompositionError, parse_decomposition, parse_expression
from codeplan.planning.turns import first_line, is_thought, normalise_action, parse_claim
from codeplan.report.pages.html_page import diff_rows, plan_layout
from codeplan.sandbox import extract
from codeplan.sandbox.monty.script import find_variable_names
from codeplan.skills.parameter_binding import (
    BindingError,
    SkillParameter,
    bind_parameters,
    parse_values,
    read_parameters,
)
from codeplan.skills.skill_folder import DamagedSkill, parse_manifest
from codeplan.types import Observation
from codeplan.untrusted.comparison import describe_changes, diff_lines
from codeplan.untrusted.texts import clean, clip_lines, one_line

pytestmark = pytest.mark.long

LENGTH = MAX_REPLY_CHARS // 4
GAME = generate_game("pick", 1)
ROOM = "This room is called the kitchen. In it, you see: \n"
SPACE = household.make().space


def shop(action: str) -> Observation:
    return play(webshop.make(), action)


def question(action: str) -> Observation:
    return play(hotpotqa.make(), action)


def play(env: Any, action: str) -> Observation:
    """The environment's answer to one action."""
    env.reset(env.tasks("test")[0])
    try:
        return env.step(action)
    finally:
        env.close()


def executor_line(reply: str) -> tuple[bool, bool | None, str]:
    line = first_line(reply)
    return is_thought(line), parse_claim(line), normalise_action(line, SPACE)


def refused(read: Callable[[str], Any], *errors: type[Exception]) -> Callable[[str], Any]:
    """The same, where an error that its caller expects is an answer too."""

    def answer(text: str) -> Any:
        try:
            return read(text)
        except errors as e:
            return str(e)

    return answer


READERS: dict[str, Callable[[str], Any]] = {
    "the plan in a reply": extract,
    "a plan in sub-tasks": refused(parse_decomposition, DecompositionError),
    "an execution order": refused(parse_expression, DecompositionError),
    "a sub-task's text and order": refused(
        lambda text: parse_decomposition(f"Step 1: {text}\nExecution order: {text}"), DecompositionError
    ),
    "an executor's line": executor_line,
    "values for parameters": refused(lambda text: parse_values(text, [SkillParameter("a", "b")]), BindingError),
    "the parameters of a plan": lambda text: bind_parameters(
        text, text, {p.name: p.value for p in read_parameters(text).parameters}
    ),
    "a skill's manifest": refused(parse_manifest, DamagedSkill),
    "a manifest's front matter": refused(lambda text: parse_manifest(f"---\n{text}\n---\n"), DamagedSkill),
    "an older manifest's front matter": refused(lambda text: parse_manifest(f"+++\n{text}\n+++\n"), DamagedSkill),
    "an endpoint's body": lambda text: parse_chat(text.encode("utf-8", "replace")),
    "an endpoint's reply": lambda text: parse_chat(json.dumps({"choices": [{"message": {"content": text}}]}).encode()),
    "a reply up to a stop": lambda text: cut_at_stop(text, ("\n", "```", "ab")),
    "the variables of a script": find_variable_names,
    "the layout of a plan": plan_layout,
    "two plans on a page": lambda text: diff_rows(text, text[::-1]),
    "two plans on the terminal": lambda text: list(diff_lines(text, text[1:] + "x")),
    "a difference in a message": lambda text: describe_changes(text, text[::2]),
    "terminal text": lambda text: (clean(text), one_line(text), clip_lines(text)),
    "an action in the household": lambda text: [
        (try_action(GAME, GAME.initial_state, verb + text), explain_failure(GAME, GAME.initial_state, verb + text))
        for verb in ("", "put ", "take ", "go to ", "clean ", "use ")
    ],
    "an action in TextCraft": lambda text: [
        textcraft.apply_action(recipe_book(), {"stick": 9}, verb + text)
        for verb in ("", "craft ", "get ", "craft 1 a using ")
    ],
    "TextCraft's answers": lambda text: TextCraftAgent(lambda action: Observation(text), Observation(text)).craftable,
    "ScienceWorld's answers": lambda text: [
        ScienceWorldAgent(lambda action, said=said: Observation(said), Observation(said)).look()
        for said in (text, f"{ROOM}\t{text}", f"Inside the box is:\n\t{text}", f"You move the {text}")
    ],
    "a name in ScienceWorld": refused(lambda text: resolve_name(text, [text[1:], "metal pot"], "here"), AgentError),
    "an action in WebShop": lambda text: [shop(verb + text) for verb in ("", "search[", "click[")],
    "a search in WebShop": lambda text: shop(f"search[{text}]"),
    "an action in HotpotQA": lambda text: [question(verb + text) for verb in ("", "search[", "finish[")],
    "a search in HotpotQA": lambda text: (question(f"search[{text}]"), question(f"lookup[{text}]")),
    "an answer in HotpotQA": lambda text: score_answer(text, text[:50]),
    "an action in the browser": lambda text: (parse_browser_action(text), parse_browser_action(f"type {text}")),
}

PIECES: dict[str, tuple[str, str, str]] = {
    "a fence of tildes and a tick": ("~~~", "a", "`"),
    "a fence after spaces": ("", " ", "```python x`"),
    "fences in other fences": ("~~~~\n", "```\n~~~\n", "~~~~"),
    "an execution order of colons": ("Step 1: a\nexecution order", " :", ""),
    "an execution order of brackets": ("Step 1: a\nExecution order: ", "(", ""),
    "joined steps": ("Step 1: a\nExecution order: 1", " AND 1", ""),
    "steps": ("", "step 1", ""),
    "prompt signs": ("", "> ", "x"),
    "actions of actions": ("", "action 1: ", ""),
    "an action's number": ("action", " ", "1"),
    "putting": ("put a", " 1 in", ""),
    "crafting": ("craft 1 a", " using 1 stick,", "\n"),
    "brackets of a list": ("", "[", "] (1"),
    "words": ("", "ab cd ", ""),
    "nothing but line ends": ("", "\n", ""),
    "byte order marks": ("", "\ufeff", "def solution(agent):"),
    "spaces that are not spaces": ("", "\u00a0\u3000\x0b\x0c", "x"),
    "tabs": ("", "\t", "x"),
    "a ladder of indentation": ("def solution(agent):\n", " \n  \n   x\n", ""),
    "thoughts": ("", "<think>", ""),
    "ends of thoughts": ("", "</think>", ""),
    "channels": ("", "<|channel|>final<|message|>a", ""),
    "heads of channels": ("", "<|channel|>", "final<|message|>"),
    "control tokens": ("", "<|a|>", ""),
    "unclosed strings": ("x = '''", "\\'\"", ""),
    "loops over loops": ("", "for x ", ""),
    "assignments": ("", "a=", ""),
    "headers": ("", "def solution(agent, start_from=1):\n", ""),
    "nested lists": ("", "[", ""),
    "a number of many digits": ("a = ", "9", ""),
    "front matter": ("---\n", "---\n", ""),
    "front matter of older manifests": ("+++\n", "+++\n", ""),
    "nested lists of YAML": ("", "- ", ""),
    "nested keys of YAML": ("", "? ", ""),
    "anchors": ("a: ", "&a ", ""),
    "backslashes": ('{"a": "', "\\", '"}'),
    "half characters": ("", "\ud800", ""),
    "combining marks": ("a", "\u0301", ""),
    "letters that grow in lower case": ("", "İ", ""),
    "parameters": ("# Parameters\n", 'a = "b"\n', "# End"),
}


def attack(name: str, length: int) -> str:
    prefix, pump, suffix = PIECES[name]
    return prefix + pump * (length // len(pump)) + suffix


@pytest.mark.parametrize("reader", READERS)
def test_a_long_reply_takes_a_part_of_any_budget(reader: str) -> None:
    """A reader of quadratic time would take many minutes for these texts together."""
    for name in PIECES:
        started = time.process_time()
        READERS[reader](attack(name, LENGTH))
        assert time.process_time() - started < 5, name


PURE = {name: READERS[name] for name in ("the plan in a reply", "a plan in sub-tasks", "an execution order", "an executor's line",
        "the parameters of a plan", "the variables of a script", "the layout of a plan", "terminal text")}  # fmt: skip
parts = st.lists(
    st.sampled_from(sorted({part for piece in PIECES.values() for part in piece if part})), max_size=4
).map("".join)


@pytest.mark.parametrize("reader", PURE)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(prefix=parts, pump=parts.filter(bool), suffix=parts)
def test_doubling_a_text_doubles_the_steps(reader: str, prefix: str, pump: str, suffix: str) -> None:
    small, large = (count_lines(lambda n=n: PURE[reader](prefix + pump * n + suffix)) for n in (150, 300))
    assert large < 2.2 * small + 500
