"""The prompts: strict rendering, values that stay data, an override folder, and worked examples that win."""

import ast
import re
import subprocess
import sys

import pytest

from codeplan import envs
from codeplan.planning.asking import WorkedExample
from codeplan.prompts.templates import PromptError, Prompts
from codeplan.runner.given_plans import execute
from codeplan.sandbox.runtime.module_names import ALLOWED_MODULES
from codeplan.sandbox.runtime.names import GUARDED_BUILTINS, PLAIN_BUILTINS, RUNTIME_NAMES
from codeplan.skills.parameter_binding import SkillParameter
from codeplan.skills.skill import Skill
from codeplan.standin.household import parse_goal, sort_by_likelihood
from codeplan.standin.model import ScriptedModel
from codeplan.types import Finished, Stopped

KINDS = ("pick", "clean", "heat", "cool", "examine", "pick_two")
LANGUAGE = ("asks", "replans", "tools", "once", "brief", "at_entry", "asks_user")
SESSION = ("turns", "new_tools", "left_variables", "history_mark", "recalls")
CHATS = {
    "adaplanner/plan": (
        "api",
        "advice",
        "samples",
        "skills",
        "observation",
        "goal",
        "notes",
        "left",
        *SESSION,
        *LANGUAGE,
    ),
    "adaplanner/check": (
        "source",
        "errors",
        "ran",
        "log",
        "printed",
        "variables",
        "done",
        "next_start",
        "mark",
        *LANGUAGE,
    ),
    "adaplanner/refine": (
        *("api", "advice", "samples", "skills", "observation", "goal", "notes", "source", "feedback", "variables"),
        *("failed_line", "fixes", "log", "printed", "now", "left", "attempts", "refused", "finished", "replanned"),
        *("unfinished", "step", "next_start", "done", "mark", *SESSION, *LANGUAGE),
    ),
    "adaplanner/rewrite": (
        *("api", "advice", "samples", "skills", "observation", "goal", "notes", "feedback", "left"),
        *("refused", "next_start", "done", "mark", *SESSION, *LANGUAGE),
    ),
    "adaplanner/resume": ("previous", "revised"),
    "adaplanner/ask": ("question",),
    "adaplanner/bind": ("earlier", "parameters", "observation", "goal", "acts"),
    "adaplanner/phrases": ("goal", "parameters", "constants", "called"),
    "search/rate": ("observation", "goal", "plan", "transcript", "done", "steps"),
}
LINES = ("notes", "fixes", "left", "attempts", "done", "once", "turns", "new_tools", "left_variables", "called")
"""Values that are a tuple of lines."""
UNSHOWN = {*LANGUAGE, "acts", "recalls", "ran", "refused", "finished", "replanned", "unfinished", "step", "next_start"}
"""Values that choose between sentences."""
PROMPTS = Prompts()
PLANS = ["adaplanner/plan", "adaplanner/check", "adaplanner/refine", "adaplanner/rewrite"]
"""Prompts that want a plan."""


def chat(name, **values):
    """The system's and the user's text, with the value's own name for every value that is not given."""
    given = {value: f"<{value}>" for value in CHATS[name]} | values
    given |= {value: False for value in ("tools", "brief") if value in given and value not in values}
    if "skills" in given and "skills" not in values:
        given["skills"] = (Skill("skill-1", "household", "<skills>"),)
    if "parameters" in given and "parameters" not in values:
        given["parameters"] = (SkillParameter("the_item", "<parameters>"),)
    if "constants" in given and "constants" not in values:
        given["constants"] = (SkillParameter("the_value", "<constants>"),)
    given |= {value: (f"<{value}>",) for value in LINES if value in given and value not in values}
    if "samples" in given and "samples" not in values:
        given["samples"] = (WorkedExample("<samples>", "another task of this kind"),)
    system, user = PROMPTS.messages(name, **given)
    assert (system["role"], user["role"]) == ("system", "user")
    return system["content"], user["content"]


@pytest.mark.parametrize("name", CHATS)
def test_every_value_of_a_prompt_is_shown(name):
    shown = "\n".join(chat(name))
    assert all(f"<{value}>" in shown for value in CHATS[name] if value not in UNSHOWN)


@pytest.mark.parametrize(("word", "setting"), [("ask_llm", "asks"), ("replan(", "replans"), ("ask_user", "asks_user")])
@pytest.mark.parametrize("name", PLANS)
def test_prompts_do_not_speak_of_what_plans_may_not_do(name, word, setting):
    assert word in "\n".join(chat(name))
    assert word not in "\n".join(chat(name, **{setting: False}))


@pytest.mark.parametrize("name", PLANS)
def test_prompts_that_want_a_plan_say_what_there_is_beside_python(name):
    there_is, _, there_is_not = chat(name)[0].partition("There is, without an import:")[2].partition("There is not:")
    own, _, modules = there_is.partition("To import:")
    assert set(re.findall(r"\w+", own)) >= RUNTIME_NAMES - {"ask", "agent", "start_from", "print"}
    named = modules.partition("such as ")[2].strip().removesuffix(".").split(", ")
    assert len(named) > 10
    assert set(named) <= ALLOWED_MODULES.keys()
    assert not set(re.findall(r"\w+", there_is_not.partition("\n")[0])) & (PLAIN_BUILTINS | GUARDED_BUILTINS)


@pytest.mark.parametrize("name", PLANS)
def test_prompts_that_want_a_plan_state_its_form(name):
    system, _ = chat(name)
    for words in ("def solution(agent, start_from=1):", "if start_from <= 1:", "print('[Step 1]", "Error in [Step"):
        assert words in system
    assert "one fenced python block" in system


def test_values_are_data_and_never_templates():
    question = "{{ 7 * 6 }} {% include 'adaplanner/plan.j2' %} <b> {# x #}"
    assert chat("adaplanner/ask", question=question)[1] == question


def test_a_missing_value_is_named():
    with pytest.raises(PromptError, match="adaplanner/check needs a value for done, errors"):
        PROMPTS.messages("adaplanner/check", source="x", **dict.fromkeys(LANGUAGE, False))


def test_a_value_that_a_prompt_does_not_use_is_named_with_those_it_uses():
    with pytest.raises(PromptError, match="adaplanner/ask does not use goal; it uses question"):
        PROMPTS.messages("adaplanner/ask", question="x", goal="y")


@pytest.mark.parametrize("name", ["adaplanner/nothing", "../../etc/passwd", "/etc/passwd", ""])
def test_an_unknown_prompt_is_refused_with_those_there_are(name):
    with pytest.raises(PromptError, match=r"there is no prompt .*adaplanner/ask.*household/pick"):
        PROMPTS.messages(name)


def test_a_plain_template_is_no_chat_prompt():
    with pytest.raises(PromptError, match="household/pick has no block 'system'"):
        PROMPTS.messages("household/pick")


def test_without_a_sample_or_errors_the_prompt_says_nothing_of_them():
    assert "worked example" not in chat("adaplanner/plan", samples=())[0]
    assert "Not yet checked" in chat("adaplanner/check", errors="")[1]


def test_importing_the_prompts_does_not_import_jinja2():
    code = "import sys, codeplan.prompts; codeplan.prompts.Prompts(); sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# ------------------------------------------------------------------ the override folder


def override(folder, name, text):
    path = folder / f"{name}.j2"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Prompts(folder)


def test_a_file_in_the_folder_wins_and_the_others_stay(tmp_path):
    text = "{% block system %}S{% endblock %}{% block user %}mine: {{ question }}{% endblock %}"
    prompts = override(tmp_path, "adaplanner/ask", text)
    assert prompts.messages("adaplanner/ask", question="why?")[1]["content"] == "mine: why?"
    assert prompts.digest("adaplanner/plan") == PROMPTS.digest("adaplanner/plan")


def test_the_digest_follows_the_template_and_what_it_includes(tmp_path):
    prompts = override(tmp_path, "adaplanner/_language", "Speak Python.")
    assert re.fullmatch("[0-9a-f]{16}", PROMPTS.digest("adaplanner/plan"))
    assert prompts.digest("adaplanner/plan") != PROMPTS.digest("adaplanner/plan")
    assert prompts.digest("adaplanner/ask") == PROMPTS.digest("adaplanner/ask")


def test_a_folder_may_bring_samples_for_another_environment(tmp_path):
    prompts = override(tmp_path, "boxes/find", "def solution(agent, start_from=1): ...\n")
    assert prompts.sample("boxes", "find") == "def solution(agent, start_from=1): ..."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{% block system %}{{ ", "adaplanner/ask cannot be read: line 1"),
        (
            "{% block system %}{% endblock %}{% block user %}{{ question | shout }}{% endblock %}",
            "No filter named 'shout'",
        ),
        (
            "{% block system %}{% endblock %}{% block user %}{{ question + 1 }}{% endblock %}",
            "cannot be rendered: .*str",
        ),
        (b"\xff\xfe", "adaplanner/ask is not UTF-8"),
        ("{% block system %}S{% endblock %}", "adaplanner/ask does not use question"),
        (
            "{% block system %}{{ question.__class__.__mro__ }}{% endblock %}{% block user %}{% endblock %}",
            "adaplanner/ask cannot be rendered: access to attribute '__class__'",
        ),
    ],
)
def test_a_broken_file_in_the_folder_is_one_sentence(tmp_path, text, message):
    with pytest.raises(PromptError, match=message):
        override(tmp_path, "adaplanner/ask", text).messages("adaplanner/ask", question="x")


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(PromptError, match=r"no folder of prompts at .*missing"):
        Prompts(tmp_path / "missing")


# ------------------------------------------------------------------ the worked examples


def test_there_is_a_sample_for_each_kind_of_household_task_and_none_for_others():
    assert envs.make("household").kinds == KINDS
    assert all(PROMPTS.sample("household", kind) for kind in KINDS)
    assert [PROMPTS.sample(*x) for x in (("household", ""), ("webshop", "pick"), ("adaplanner", "../x"))] == [None] * 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("folder", ["household", "household/paper"])
def test_a_sample_shows_the_receptacles_and_the_task_that_it_solves(folder, kind):
    sample = PROMPTS.sample(folder, kind)
    seen, task = sample.split("\n")[:2]
    chore = parse_goal(task.removeprefix("# Task: "), seen)
    assert seen.startswith("# You see: a ")
    assert chore.kind == kind
    assert (chore.target or chore.lamp) in sample.split("def solution")[1]


def rename(old, new, plan):
    """The plan with another word, also where it follows the \\b of a regular expression."""
    return re.sub(rf"(?:(?<=\\b)|\b){old}\b", new, plan)


def fitted(folder, kind, goal, observation):
    """The sample with another task's names for its own. The one that asks searches only half of the room before it."""
    sample = PROMPTS.sample(folder, kind)
    seen, task, plan = sample.split("\n", 2)
    own, new = parse_goal(task, seen), parse_goal(goal, observation)
    for old, name in ((own.target, new.target), (own.appliance, new.appliance), (own.lamp, new.lamp)):
        plan = rename(old, name, plan) if old else plan
    plan = rename(own.target.split(" ")[0], new.target.split(" ")[0], plan) if own.target else plan
    plan = rename(own.thing, new.thing, plan)
    sought = iter([new.thing, new.lamp])

    def likely_places(found):
        thing = next(sought)
        places = [p for p in sort_by_likelihood(thing, new.room) if kind != "pick_two" or p != new.target]
        return f"{found[1]}{places[: len(places) // 2] if 'ask_llm' in plan else places}"

    return re.sub(r"((?:likely =|for place in) )\[.*?\]", likely_places, plan)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("agent", "folder"), [("full", "household"), ("paper", "household/paper")])
def test_a_sample_wins_tasks_of_its_kind_once_its_names_fit(agent, folder, kind, seed):
    household = envs.make("household", agent=agent)
    task = household.task(kind, seed)
    plan = fitted(folder, kind, task.goal, household.reset(task).text)
    ast.parse(plan)
    done = execute(plan, household, task, model=ScriptedModel())
    assert done.result.success
    assert isinstance(done.outcome, Finished | Stopped)
    assert done.result.actions <= 50


@pytest.mark.parametrize(
    "kind",
    ["", "x" * 300, "x/" * 3_000, "heat\0", "/etc/passwd", "heat/../heat", "heat\n", "{{ 7 * 7 }}", "é" * 200, "~/x"],
)
def test_a_kind_that_no_sample_has_is_no_sample_however_it_is_spelt(kind: str) -> None:
    assert Prompts().sample("household", kind) is None
    assert Prompts().sample(kind, "heat") is None
