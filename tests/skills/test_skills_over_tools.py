"""Skills over the user's own tools: proven on recorded answers, offered to the same tools alone, run by hand."""

import contextlib
import json
import shutil
from pathlib import Path

import msgspec
import pytest
from support.shop import GOAL, PLAN, TOOLS, Shop

import codeplan
from codeplan.cli import main
from codeplan.curation.acquisition import (
    AcquiredSkill,
    NothingAcquired,
    acquire_from_run,
    read_episode,
    recorded_runner,
    try_to_acquire,
)
from codeplan.recording.events import CallBegun, SkillsChosen
from codeplan.recording.trace import Trace
from codeplan.skills.import_export import export_skills, import_skills
from codeplan.skills.library import SkillLibrary
from codeplan.skills.value_forms import ValueForm


def play(folder, shop, plan=PLAN, goal=GOAL, **more):
    return codeplan.do(goal, tools=[shop], model=lambda messages: plan, out=folder, **more)


@pytest.fixture
def acquired(library, tmp_path):
    """The skill of an episode, and the shop in which that was played."""
    shop = Shop()
    play(tmp_path / "run", shop, verify=lambda value: True)
    found = acquire_from_run(tmp_path / "run", library, model=lambda messages: "no")
    assert isinstance(found, AcquiredSkill)
    return found.skill, shop


def test_a_success_becomes_a_candidate_that_names_its_tools_and_nothing_is_done_for_its_proof(acquired, library):
    skill, shop = acquired
    assert shop.orders == [("apples", 7)]
    assert (skill.env, skill.status, skill.parameters) == ("tools", "candidate", ("the_item", "the_number"))
    assert [f"{t.method.name}{t.method.signature}" for t in skill.tools] == [
        "stock(fruit: str) -> int",
        "order(fruit: str, count: int) -> str",
    ]
    assert library.get_by_name(skill.name) == skill
    (record,) = library.read_evidence(skill)
    assert record.success and record.phase == "acquire"


def test_a_claimed_episode_yields_a_skill_and_a_failed_one_does_not(library, tmp_path):
    play(tmp_path / "claimed", Shop())
    assert isinstance(acquire_from_run(tmp_path / "claimed", library, model=lambda messages: "no"), AcquiredSkill)
    play(tmp_path / "failed", Shop(), verify=lambda value: "no", tries=1)
    found = acquire_from_run(tmp_path / "failed", library, model=lambda messages: "no")
    assert found == NothingAcquired("the task was not solved")


def test_a_plan_that_makes_a_call_without_a_recorded_answer_is_no_skill_and_calls_no_tool(library, tmp_path):
    shop = Shop()
    play(tmp_path / "run", shop)
    _, episode = read_episode(tmp_path / "run")
    ordered = {e.id for e in episode.events if isinstance(e, CallBegun) and e.call.name == "order"}
    events = tuple(e for e in episode.events if getattr(e, "id", None) not in ordered)
    cut = msgspec.structs.replace(episode, events=events)
    found = try_to_acquire(recorded_runner(cut, lambda messages: "no"), library, cut)
    assert isinstance(found, NothingAcquired) and not found.broken_off
    assert "which the recorded plan did not call at all" in found.reason
    assert shop.orders == [("apples", 7)] and library.entries() == []


def chosen(folder):
    return next(e for e in Trace.read(Path(folder) / "trace.jsonl") if isinstance(e, SkillsChosen))


def test_a_skill_is_offered_to_the_tools_that_it_needs_alone(acquired, library, tmp_path):
    skill, _ = acquired
    library.change(skill, status="active")
    play(tmp_path / "same", Shop(), library=library)
    assert [c.name for c in chosen(tmp_path / "same").chosen] == [skill.name]

    class OtherShop(Shop):
        def stock(self, fruit: str, place: str = "here") -> int:
            return 3

    play(tmp_path / "other", OtherShop(), library=library)
    said = chosen(tmp_path / "other")
    assert said.chosen == ()
    assert said.left_out == (
        f"tools/{skill.name}: the tool is \"stock(fruit: str, place: str = 'here') -> int\", and the skill needs "
        "'stock(fruit: str) -> int'",
    )
    assert codeplan.replay(tmp_path / "other").value == {"ordered": 7}


def test_an_unverified_use_is_no_evidence(acquired, library, tmp_path):
    skill, _ = acquired
    library.change(skill, status="active")
    play(tmp_path / "unverified", Shop(), library=library)
    assert len(library.read_evidence(skill)) == 1
    play(tmp_path / "verified", Shop(), library=library, verify=lambda value: True)
    assert [r.phase for r in library.read_evidence(skill)] == ["acquire", "use"]


def test_exported_skills_over_tools_are_checked_against_their_own_tools(acquired, library, tmp_path):
    skill, _ = acquired
    export_skills(library, tmp_path / "a.zip", [skill])
    other = SkillLibrary(tmp_path / "other")
    (row,) = import_skills(other, tmp_path / "a.zip")
    assert other.get_by_name(row.name).tools == skill.tools
    export_skills(
        library, tmp_path / "b.zip", [library.change(skill, plan=skill.plan.replace("agent.order", "agent.sell"))]
    )
    assert "the agent has no `sell`" in import_skills(other, tmp_path / "b.zip")[0].reason


@pytest.mark.parametrize("name", ["__class__", "a b", "import", ""])
def test_a_strangers_tools_with_names_that_no_tool_has_are_refused(acquired, library, tmp_path, name):
    skill, _ = acquired
    hostile = msgspec.structs.replace(skill.tools[0].method, name=name)
    tools = (msgspec.structs.replace(skill.tools[0], method=hostile),)
    export_skills(library, tmp_path / "a.zip", [msgspec.structs.replace(skill, tools=tools)])
    (row,) = import_skills(SkillLibrary(tmp_path / "other"), tmp_path / "a.zip")
    assert row.name == "" and "its tools cannot be those of a plan" in row.reason


# ------------------------------------------------------------------ the commands


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A folder with the user's tools and model."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.py").write_text(f"PLAN = {PLAN!r}\n{TOOLS}")
    return tmp_path


USUAL = ("--tools", "shop.py:stock,order", "--library", "lib", "-q")
VERIFIED = (*USUAL, "--verify", "shop.py:verify")


def learn():
    Path("shop.py").write_text(f"PLAN = {PLAN!r}\n{TOOLS}")
    main(["do", GOAL, "--model", "shop.py:model", "--acquire", *VERIFIED])
    (entry,) = SkillLibrary("lib").entries()
    return entry.name


@pytest.fixture(scope="module")
def learnt(tmp_path_factory):
    """A folder in which an episode was played and became a skill."""
    folder = tmp_path_factory.mktemp("learnt")
    with contextlib.chdir(folder):
        learn()
    return folder


@pytest.fixture
def name(shop, learnt):
    """The skill's name, in a folder of the test's own."""
    shutil.copytree(learnt, shop, dirs_exist_ok=True)
    (entry,) = SkillLibrary("lib").entries()
    return entry.name


def orders():
    return Path("orders.txt").read_text()


def test_do_acquires_and_run_repeats_with_other_values_without_a_model(shop, capsys):
    name = learn()
    assert orders() == "apples 7 "
    assert f"candidate tools/{name} in lib" in capsys.readouterr().out
    assert main(["skills", "run", name, "the_item=bananas", "the_number=25", *VERIFIED, "--json"]) == 0
    assert orders() == "apples 7 bananas 25 "
    said = json.loads(capsys.readouterr().out)
    assert (said["value"], said["model_calls"], said["usage"]["input_tokens"]) == ({"ordered": 25}, 0, 0)
    assert main(["skills", "run", name, "the_item=pears", "the_number=10", *VERIFIED, "--json"]) == 1
    assert "there are enough pears" in json.loads(capsys.readouterr().out)["reason"]
    assert main(["skills", "run", name, "the_item=kiwis", "the_number=10", *USUAL]) == 1
    assert orders() == "apples 7 bananas 25 kiwis 10 "


@pytest.mark.parametrize(
    ("values", "tools", "why"),
    [
        ((), "shop.py", "there is no value for the_item, the_number; its parameters: the_item=… the_number=…"),
        (("the_item=a", "count=1"), "shop.py", "'count' is no parameter; its parameters: the_item=… the_number=…"),
        (("the_item=a", "count"), "shop.py", "'count' is no KEY=VALUE; codeplan skills show"),
        (("the_item=a", "the_item=b"), "shop.py", "the_item has two values"),
        (("the_item=" + "a" * 2_001, "the_number=2"), "shop.py", "a text of at most 2,000 characters"),
        (("the_item=\U000e0001", "the_number=2"), "shop.py", "characters that a plan cannot hold"),
        (("the_item=a", "the_number=ten"), "shop.py", "the_number is a whole number, as in 10"),
        (("the_item=a", "the_number=2.5"), "shop.py", "the_number is a whole number, as in 10"),
        (("the_item=a", "the_number=2"), "shop.py:stock", "there is no tool 'order'"),
    ],
)
def test_a_run_that_does_not_fit_is_refused_before_anything_is_done(name, capsys, values, tools, why):
    code = main(["skills", "run", name, *values, "--tools", tools, "--library", "lib", "-q"])
    assert (code, orders()) == (2, "apples 7 ")
    assert why in capsys.readouterr().err


def test_a_value_is_a_text_whatever_it_looks_like(name):
    value = "\"]; agent.order('x', 1) #\n{the_item}"
    assert main(["skills", "run", name, f"the_item={value}", "the_number=10", *VERIFIED]) == 0
    assert orders() == f"apples 7 {value} 10 "


def test_a_date_stays_a_date(shop, capsys):
    dated = PLAN.replace('said == "ok"', 'said == "ok" and "2026-03-01"')
    Path("shop.py").write_text(f"PLAN = {dated!r}\n{TOOLS}")
    main(["do", f"{GOAL} by 2026-03-01", "--model", "shop.py:model", "--acquire", *VERIFIED])
    (entry,) = SkillLibrary("lib").entries()
    assert SkillLibrary("lib").get_by_name(entry.name).parameters == ("the_item", "the_number", "the_item_2")
    given = ("skills", "run", entry.name, "the_item=a", "the_number=10")
    assert main([*given, "the_item_2=2026-02-30", *VERIFIED]) == 2
    assert "the_item_2 is a date, as in 2026-03-01" in capsys.readouterr().err
    assert main([*given, "the_item_2=2026-02-28", *VERIFIED]) == 0


def test_a_skill_brings_a_test_that_must_pass_before_it_is_promoted(name, capsys):
    folder = Path("lib/tools") / name
    assert main(["test", "lib", "-q"]) == 0
    assert "3 passed" in capsys.readouterr().out
    assert main(["skills", "promote", name, "--library", "lib"]) == 0
    (folder / "plan.py").write_text((folder / "plan.py").read_text().replace("n < the_number", "n > the_number"))
    main(["skills", "rebuild", "--library", "lib"])
    assert f"tools/{name} has version 2 now, candidate" in capsys.readouterr().out
    assert main(["skills", "promote", name, "--library", "lib"]) == 2
    assert f"the test of tools/{name} fails; codeplan test {folder}/recorded.plan.toml" in capsys.readouterr().err
    assert SkillLibrary("lib").get("tools", name).status == "candidate"
    assert main(["skills", "promote", name, "--library", "lib", "--untested"]) == 0
    assert orders() == "apples 7 "


def test_a_strangers_test_of_another_plan_promotes_nothing(name, capsys):
    manifest = Path("lib/tools") / name / "recorded.plan.toml"
    manifest.write_text(manifest.read_text().replace('skill = "."', 'plan = "plan.py"'))
    assert main(["skills", "promote", name, "--library", "lib"]) == 2
    assert "does not say that the skill's own plan succeeds" in capsys.readouterr().err


STAND_IN = """
def stock(fruit: str) -> int:
    return {"apples": 9, "pears": 50}[fruit]
def order(fruit: str, count: int) -> str:
    with open("tried.txt", "a") as file:
        file.write(f"{fruit} {count} ")
    return "ok"
def verify(value):
    return value["ordered"] < 5
"""


@pytest.mark.parametrize(
    ("values", "code", "tried"),
    [
        (("the_number=12",), 0, "apples 3 "),
        (("the_number=20",), 1, "apples 11 "),
        (("the_item=pears",), 1, ""),
        (("the_item=plums",), 1, ""),
    ],
)
def test_a_skill_is_tried_on_a_stand_in_of_the_tools(name, values, code, tried):
    Path("stand_in.py").write_text(STAND_IN)
    trial = ("--trial", "stand_in.py:stock,order", "--verify", "stand_in.py:verify", "--library", "lib", "-q")
    assert main(["skills", "test", name, *values, *trial]) == code
    assert (Path("tried.txt").read_text() if Path("tried.txt").exists() else "") == tried
    assert orders() == "apples 7 "
    library = SkillLibrary("lib")
    assert [r.phase for r in library.read_evidence(library.get("tools", name))] == ["acquire", "check"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("test", "NAME", "the_item=pears"), "give a stand-in with --trial FILE.py"),
        (("test", "NAME", "--tools", "shop.py:stock,order"), "the tool 'stock' may act, and a trial does nothing real"),
        (("test", "NAME", "--tools", "shop.py:stock,order", "--readonly", "stock"), "the tool 'order' may act"),
        (("test", "NAME", "--tools", "shop.py", "--trial", "stand_in.py"), "leave --tools, --mcp"),
        (("test", "NAME", "--trial", "stand_in.py:stock"), "there is no tool 'order'"),
        (("promote", "NAME", "--trial", "stand_in.py:bad,order"), "there is no tool 'stock'"),
    ],
)
def test_nothing_real_is_done_for_a_trial(name, capsys, arguments, why):
    Path("stand_in.py").write_text(STAND_IN + "def bad(): ...\n")
    assert main(["skills", *(name if a == "NAME" else a for a in arguments), "--library", "lib"]) == 2
    assert why in capsys.readouterr().err
    assert orders() == "apples 7 " and SkillLibrary("lib").get("tools", name).status == "candidate"


def test_tools_that_only_read_may_be_tried_themselves(name):
    given = ("--tools", "shop.py:stock,order", "--readonly", "*", "--library", "lib", "-q")
    assert main(["skills", "test", name, "the_number=9", *given]) == 0
    assert orders() == "apples 7 apples 6 "


@pytest.mark.parametrize(("answer", "code", "status"), [("ok", 0, "active"), ("no", 2, "candidate")])
def test_a_promotion_may_want_a_trial(name, capsys, answer, code, status):
    Path("stand_in.py").write_text(STAND_IN.replace('"ok"', f'"{answer}"'))
    assert main(["skills", "promote", name, "--trial", "stand_in.py:stock,order", "--library", "lib"]) == code
    assert SkillLibrary("lib").get("tools", name).status == status
    assert ("the trial of tools/" in capsys.readouterr().err) == (code == 2)


READ_THEM = ("--tools", "shop.py:stock,order", "--readonly")


@pytest.mark.parametrize(
    ("answer", "more", "found", "why"),
    [
        ("ok", (), (True, None, "active"), ""),
        ("ok", ("--trial", "stand_in.py:stock,order"), (True, True, "active"), ""),
        (
            "no",
            ("--trial", "stand_in.py:stock,order"),
            (True, False, "candidate"),
            "the trial fails: the plan failed at step 2",
        ),
        ("ok", (*READ_THEM, "*"), (True, True, "active"), ""),
    ],
)
def test_filtering_promotes_the_candidates_that_pass_their_trials(name, capsys, answer, more, found, why):
    Path("stand_in.py").write_text(STAND_IN.replace('"ok"', f'"{answer}"'))
    capsys.readouterr()
    assert main(["skills", "filter", "tools", *more, "--library", "lib", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["filtered"]
    assert (row["test"], row["trial"], row["status"]) == found and why in row["reason"]
    assert SkillLibrary("lib").get("tools", name).status == found[2]
    assert orders() == "apples 7 " * (2 if more[-1:] == ("*",) else 1)


def test_filtering_leaves_a_pinned_candidate_as_it_is(name, capsys):
    library = SkillLibrary("lib")
    library.change(library.get("tools", name), pinned=True)
    main(["skills", "filter", "tools", "--library", "lib"])
    assert library.get("tools", name).status == "candidate"
    assert "it is pinned" in capsys.readouterr().out


def test_filtering_promotes_no_skill_that_fails_its_test_or_has_none(name, capsys):
    library = SkillLibrary("lib")
    skill = library.get_by_name(name)
    library.change(skill, plan=skill.plan.replace("10 - n", "11 - n").replace("the_number - n", "the_number"))
    main(["skills", "filter", "tools", "--library", "lib"])
    assert "failed" in capsys.readouterr().out and library.get("tools", skill.name).status == "candidate"
    bare = library.add(msgspec.structs.replace(skill, name="bare"))
    main(["skills", "filter", "tools", "--skill", "bare", "--library", "lib"])
    assert "it has no test, and there was no trial" in capsys.readouterr().out
    assert library.get("tools", bare.name).status == "candidate"


def test_values_that_a_model_named_are_shown_and_promoted_by_hand_alone(name, capsys):
    library = SkillLibrary("lib")
    table = (("apples", "apples"), ("pears", "EVIL"))
    library.change(library.get_by_name(name), forms=(ValueForm("the_item", "apples", table=table),))
    main(["skills", "filter", "tools", "--library", "lib"])
    assert "a model named values for words of its goal" in capsys.readouterr().out
    assert library.get("tools", name).status == "candidate"
    for command in (["show", name], ["promote", name]):
        main(["skills", *command, "--library", "lib"])
        assert "the_item is 'EVIL' where a goal says 'pears'" in capsys.readouterr().out
    assert library.get("tools", name).status == "active"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("household", "--trial", "shop.py"), "household is an environment"),
        (("tools", "--trial", "shop.py", "--tools", "shop.py"), "leave --tools, --mcp"),
    ],
)
def test_trials_are_for_skills_over_tools(name, capsys, arguments, why):
    code = main(["skills", "filter", *arguments, "--library", "lib"])
    said = capsys.readouterr()
    assert (code in (0, 2)) and why in said.out + said.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("match", "Order pears up to 25"), 0, "the_item='pears' the_number=25"),
        (("match", "Order everything up to 25"), 1, "no active skill is sure of this goal"),
        (("say", "NAME", "Get {the_item}"), 2, "needs each of these, with words between them: {the_item}, {the_n"),
        (("say", "NAME", "Get {the_item} until {the_number}"), 0, "knows 1 further phrase"),
    ],
)
def test_phrases_are_shown_and_taught(name, capsys, arguments, code, said):
    main(["skills", "promote", name, "--untested", "--library", "lib"])
    assert main(["skills", *(name if a == "NAME" else a for a in arguments), "--library", "lib"]) == code
    assert said in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (("--reuse",), "--reuse runs the plan of a skill"),
        (("--reuse", "--library", "lib", "--method", "react"), "react"),
    ],
)
def test_reuse_without_a_library_or_with_a_method_that_runs_no_plans_is_refused(name, capsys, more, why):
    assert main(["do", GOAL, "--model", "shop.py:model", "--tools", "shop.py:stock,order", *more]) == 2
    assert why in capsys.readouterr().err
    assert orders() == "apples 7 "


def test_a_retired_skill_does_not_run(name, capsys):
    main(["skills", "retire", name, "--library", "lib"])
    assert main(["skills", "run", name, "the_item=a", "the_number=10", *USUAL]) == 2
    assert "is retired" in capsys.readouterr().err


def test_a_plan_that_asks_a_model_gets_none(name, capsys, monkeypatch):
    library = SkillLibrary("lib")
    plan = library.get_by_name(name).plan
    library.change(library.get_by_name(name), plan=plan.replace('said == "ok"', 'ask_llm("good?") == "ok"'))
    capsys.readouterr()
    assert main(["skills", "run", name, "the_item=a", "the_number=10", *VERIFIED, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["model_calls"] == 0
