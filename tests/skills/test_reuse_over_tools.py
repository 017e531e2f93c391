"""The second time costs nothing: a goal that a skill over tools knows runs its plan without a model."""

from pathlib import Path

import msgspec
import pytest
from support.shop import GOAL, PLAN, Shop

import codeplan
from codeplan.curation.acquisition import AcquiredSkill, acquire_from_run
from codeplan.recording.events import SkillsChosen
from codeplan.recording.trace import Trace
from codeplan.skills.import_export import export_skills, import_skills
from codeplan.skills.library import SkillLibrary
from codeplan.skills.selection import match_goal
from codeplan.skills.skill import skill_statistics

SAID = '{"said": ["Buy {the_item} until there are {the_number}"], "words": [["order", "purchase"]]}'


class Model:
    """Says these replies, one a call."""

    def __init__(self, *replies):
        self.left, self.asked = list(replies), []

    def __call__(self, messages):
        self.asked.append(messages[-1]["content"])
        return self.left.pop(0)


def play(goal, shop, model, library, tmp_path, **more):
    given = {"library": library, "reuse": True, "verify": lambda value: True} | more
    return codeplan.do(goal, tools=[shop], model=model, out=tmp_path / goal.replace(" ", "-"), **given)


@pytest.fixture
def known(library, tmp_path):
    """An active skill."""
    codeplan.do(GOAL, tools=[Shop()], model=Model(PLAN), out=tmp_path / "first", verify=lambda value: True)
    found = acquire_from_run(tmp_path / "first", library, model=Model(SAID))
    assert isinstance(found, AcquiredSkill) and not found.unsaid
    return library.change(found.skill, status="active")


@pytest.mark.parametrize("goal", ["Order pears up to 25", "Please buy pears until there are 25"])
def test_a_known_goal_needs_no_model(known, library, tmp_path, goal):
    shop = Shop()
    result = play(goal, shop, Model(), library, tmp_path)
    assert result.success and (result.model_calls, shop.orders) == (0, [("pears", 22)])
    assert library.read_evidence(known)[-1].success
    replayed = codeplan.replay(Path(result.trace).parent)
    assert replayed.value == result.value


def test_where_the_rule_is_not_sure_one_call_binds_and_the_goal_is_learnt(known, library, tmp_path):
    shop, model = Shop(), Model('{"the_item": "pears", "the_number": 25}')
    result = play("An order should bring the pears to 25", shop, model, library, tmp_path)
    assert result.success and (result.model_calls, shop.orders) == (1, [("pears", 22)])
    result = play("An order should bring plums to 9", shop, Model(), library, tmp_path)
    assert result.success and (result.model_calls, shop.orders[1:]) == (0, [("plums", 6)])


def test_a_goal_is_learnt_from_a_verified_success_alone(known, library, tmp_path):
    binds = '{"the_item": "pears", "the_number": 25}'
    play("An order should bring pears to 25", Shop(), Model(binds), library, tmp_path, verify=None)
    play("An order must bring pears to 25", Shop(), Model(binds), library, tmp_path, verify=lambda value: "no", tries=1)
    assert library.get("tools", known.name).said == known.said


def test_another_goal_is_planned(known, library, tmp_path):
    shop = Shop()
    other = PLAN.replace('agent.order("apples", 10 - n)', "'ok'")
    result = play("Order apples, if there are fewer than 2", shop, Model("NO", other), library, tmp_path)
    assert (result.model_calls, shop.orders) == (2, [])
    assert [r.phase for r in library.read_evidence(known)] == ["acquire"]  # its plan did not run


def test_a_goal_with_none_of_a_skills_words_costs_no_call_more(known, library, tmp_path):
    shop = Shop()
    result = play(
        "What is there?", shop, Model(PLAN.replace('agent.order("apples", 10 - n)', "'ok'")), library, tmp_path
    )
    assert (result.model_calls, shop.orders) == (1, [])
    assert codeplan.replay(Path(result.trace).parent).value == result.value


def test_turns_of_a_session_reuse_skills(known, library):
    shop = Shop()
    with codeplan.Session(tools=[shop], model=Model(), library=library, reuse=True) as session:
        session.do("Order pears up to 25")
        session.do("Buy plums until there are 9")
    assert shop.orders == [("pears", 22), ("plums", 6)]


LISTED = """```python
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] order apples and plums')
        done = [agent.order(fruit, 12) for fruit in ["apples", "plums"]]
        assert set(done) == {"ok"}, "not ordered"
```"""


def test_a_list_of_the_goal_is_bound_in_other_lengths(library, tmp_path):
    codeplan.do("Order apples and plums up to 12", tools=[Shop()], model=Model(LISTED), out=tmp_path / "first")
    found = acquire_from_run(tmp_path / "first", library, model=Model('{"said": []}'))
    assert isinstance(found, AcquiredSkill) and not found.unsaid
    library.change(found.skill, status="active")
    shop = Shop()
    play("Order pears, figs and nuts up to 7", shop, Model(), library, tmp_path)
    assert shop.orders == [("pears", 7), ("figs", 7), ("nuts", 7)]


@pytest.mark.parametrize("status", ["candidate", "retired"])
def test_only_active_skills_run_unasked(known, library, tmp_path, status):
    library.change(known, status=status)
    shop, model = Shop(), Model(PLAN)
    play(GOAL.replace("10", "25"), shop, model, library, tmp_path)
    assert len(model.asked) == 1


def test_two_skills_that_are_sure_of_a_goal_are_none(known, library, tmp_path):
    library.add(msgspec.structs.replace(known, name="another"))
    assert len(match_goal(library, "Order pears up to 25")) == 2
    model = Model("NO", PLAN)
    play("Order pears up to 25", Shop(), model, library, tmp_path)
    assert len(model.asked) == 2


def test_a_plan_without_parameters_never_runs_unasked(known, library, tmp_path):
    plain = library.change(known, plan=PLAN.strip("`").removeprefix("python\n"), parameters=(), said=())
    library.change(plain, status="active")
    shop, model = Shop(), Model(PLAN.replace("apples", "pears"))
    play(GOAL, shop, model, library, tmp_path)
    assert (len(model.asked), shop.orders) == (1, [("pears", 7)])


def test_a_plan_that_fails_is_refined_where_it_stands_and_acts_once(known, library, tmp_path):
    class Changed(Shop):
        def order(self, fruit: str, count: int) -> str:
            super().order(fruit, count)
            return "done"

    shop = Changed()
    mended = """```python
    if start_from <= 2:
        print('[Step 2] it is ordered')
        assert said in ("ok", "done"), "not ordered"
```"""
    result = play("Order pears up to 25", shop, Model(mended), library, tmp_path)
    assert result.success and shop.orders == [("pears", 22)]
    chosen = next(e for e in Trace.read(result.trace) if isinstance(e, SkillsChosen))
    assert '"pears"' in chosen.bound
    last = library.read_evidence(known)[-1]
    assert not last.success and "not ordered" in last.reason


class Capitals(Shop):
    """The shop's tools, one of which has changed."""

    def stock(self, fruit: str) -> int:
        if not fruit.isupper():
            raise ValueError("give the fruit in capitals")
        return 3


MENDED = """```python
    if start_from <= 1:
        print('[Step 1] read the stock')
        n = agent.stock(the_item.upper())
        assert n < the_number, "there are enough"
```"""


def test_a_success_after_a_mend_is_a_new_version_of_the_skill(known, library, tmp_path):
    result = play("Order pears up to 25", Capitals(), Model(MENDED), library, tmp_path)
    assert "give the fruit in capitals" in skill_statistics(known, library.read_evidence(known)).last_failure
    found = acquire_from_run(Path(result.trace).parent, library, model=Model(), mends=True)
    assert isinstance(found, AcquiredSkill) and (found.mends, found.is_new) == (1, False)
    assert (found.skill.name, found.skill.version, found.skill.status) == (known.name, 2, "candidate")
    library.change(found.skill, status="active")
    shop = Capitals()
    result = play("Buy plums until there are 9", shop, Model(), library, tmp_path)
    assert result.success and (result.model_calls, shop.orders) == (0, [("plums", 6)])


def test_a_success_without_a_mend_is_a_further_origin(known, library, tmp_path):
    result = play("Order pears up to 25", Shop(), Model(), library, tmp_path)
    found = acquire_from_run(Path(result.trace).parent, library, model=Model(), mends=True)
    assert isinstance(found, AcquiredSkill) and (found.mends, found.skill.version) == (0, 1)
    assert [o.goal for o in found.skill.origins] == [GOAL, "Order pears up to 25"]
    assert len(library.entries()) == 1


def test_a_strangers_episode_mends_no_skill(known, library, tmp_path):
    result = play("Order pears up to 25", Capitals(), Model(MENDED), library, tmp_path)
    found = acquire_from_run(Path(result.trace).parent, library, model=Model("no"))
    assert isinstance(found, AcquiredSkill) and found.is_new
    assert library.get("tools", known.name) == known


def test_imported_skills_bring_no_phrases(known, library, tmp_path):
    export_skills(library, tmp_path / "a.zip", [known])
    other = SkillLibrary(tmp_path / "other")
    (row,) = import_skills(other, tmp_path / "a.zip")
    imported = other.get_by_name(row.name)
    assert (imported.said, imported.words, imported.status) == ((), (), "candidate")


def test_without_an_answer_the_skill_knows_its_own_words_alone(library, tmp_path):
    codeplan.do(GOAL, tools=[Shop()], model=Model(PLAN), out=tmp_path / "first")
    found = acquire_from_run(tmp_path / "first", library, model="scripted")
    assert isinstance(found, AcquiredSkill) and found.skill.said == ()
    assert found.unsaid == "the stand-in knows no other words"
