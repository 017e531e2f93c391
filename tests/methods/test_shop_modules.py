"""ADaPT's sub-tasks in WebShop: how they are read, what they cost, what they pass on, and when they fail."""

import re

import pytest
from support.boxes import BoxesInWords, Replies

from codeplan import envs
from codeplan.errors import UsageError
from codeplan.methods.adapt import Adapt
from codeplan.methods.plan_and_execute import PlanAndExecute
from codeplan.planning.decomposition import DecompositionError, parse_decomposition
from codeplan.planning.shop_controller import ModuleCall, parse_module
from codeplan.prompts.templates import Prompts
from codeplan.recording.events import CallBegun
from codeplan.runner.episodes import run
from codeplan.standin.model import ScriptedModel

ENV = envs.make("webshop", observation_mode="adapt")
TASK = ENV.tasks("test")[0]
SEARCH, CLICK, *OPTIONS, BUY = ENV.walkthrough(TASK)
QUERY, ID = SEARCH[len("search[") : -1], CLICK[len("click[") : -1]
PLAN = f"Step 1: Search[{QUERY}]\nStep 2: SimpleMatch[it fits]\nStep 3: Buy[prod_id, as asked]\n"
AND = "Execution order: (Step 1 AND Step 2 AND Step 3)"


def play(method, *replies):
    model, events = Replies(*replies), []
    result = run(ENV, TASK.id, method, model, on_event=events.append)
    return result, model, [e.call.name for e in events if isinstance(e, CallBegun)]


def adapt(**settings):
    executor = {"name": "react", "calls": 14, "demonstrations": "buy"}
    return Adapt(subtasks="webshop", executor=executor, **settings)


@pytest.mark.parametrize(
    ("step", "call"),
    [
        ("Search[a mug]", ModuleCall("Search", "a mug")),
        ("simplematch[ a, b [c] ].", ModuleCall("SimpleMatch", "a, b [c]")),
        ("DetailMatch[B0C1MUG001, safe, green]", ModuleCall("DetailMatch", "safe, green", "B0C1MUG001")),
        ("Buy['prod_id']", ModuleCall("Buy", "", "prod_id")),
    ],
)
def test_a_module_is_read(step, call):
    assert parse_module(step) == call


@pytest.mark.parametrize("step", ["buy a mug", "Search a mug", "Search[]", "Search[ ]", "Search[mug", "Sell[mug]"])
def test_what_is_no_module_is_refused(step):
    with pytest.raises(DecompositionError, match="is not one of Search"):
        parse_module(step)


def test_a_plan_in_modules_finds_and_buys():
    result, model, actions = play(adapt(), PLAN + AND, f"Products: {ID}", *OPTIONS, BUY)
    assert (result.success, result.claim, result.depth) == (True, True, 2)
    assert actions == [SEARCH, CLICK, *OPTIONS, BUY]
    assert model.purposes == ["decompose", "act"] + ["act"] * (len(OPTIONS) + 1)  # Search takes no call
    assert f"The product {ID} is open" in model.asked[2][1][-1]["content"]


def test_a_failed_match_is_planned_again_with_the_page_and_what_failed():
    again = f"Step 1: DetailMatch[{ID}, as asked]\nExecution order: Step 1"
    replies = (PLAN + AND, "Products: none", again, "# It has all.\nMatch: true", *OPTIONS, BUY)
    result, model, actions = play(adapt(), *replies)
    assert (result.success, result.depth) == (True, 3)
    assert actions == [SEARCH, CLICK, "click[Features]", SEARCH, CLICK, *OPTIONS, BUY]  # the state is restored
    seen = model.asked[2][1][-1]["content"]
    assert "SimpleMatch[it fits]" in seen
    assert f"[{ID}]" in seen
    assert "Narrow down the search: it fits" in seen


@pytest.mark.parametrize(("max_depth", "plans"), [(2, 1), (3, 2), (4, 3)])
def test_matches_are_planned_again_down_to_the_depth(max_depth, plans):
    again = "Step 1: SimpleMatch[it fits]\nExecution order: Step 1"
    result, model, _ = play(adapt(max_depth=max_depth), PLAN + AND, *["Products: none", again] * 5)
    assert result.claim is False
    assert model.purposes.count("decompose") == plans


@pytest.mark.parametrize("verdict", ["Match: false", "I cannot say", ""])
def test_an_or_goes_on_after_a_failed_match(verdict):
    plan = f"Step 1: Search[{QUERY}]\nStep 2: DetailMatch[{ID}, red]\nStep 3: Buy[{ID}, as asked]\n"
    replies = (plan + "Execution order: (Step 1 AND (Step 2 OR Step 3))", verdict, *OPTIONS, BUY)
    assert play(adapt(max_depth=2), *replies)[0].success


def test_buy_may_fail_and_is_never_taken_apart():
    result, model, actions = play(adapt(), PLAN + AND, f"Products: {ID}", "think: Task failed!")
    assert (result.success, result.claim) == (False, False)
    assert model.purposes == ["decompose", "act", "act"]
    assert BUY not in actions


def test_a_purchase_counts_as_claimed_also_if_it_is_wrong():
    result, _, _ = play(adapt(), PLAN + AND, f"Products: {ID}", BUY)
    assert (result.success, result.claim) == (False, True)
    assert 0 < result.reward < 1


@pytest.mark.parametrize("answer", ["Products: B000000000", "none", f"{ID} fits"])
def test_only_products_of_the_page_are_shortlisted(answer):
    assert play(adapt(max_depth=2), PLAN + AND, answer)[0].claim is False


def test_a_plan_that_is_not_in_modules_goes_back_once():
    wrong = "Step 1: buy a mug\nExecution order: Step 1"
    result, model, _ = play(adapt(), wrong, wrong)
    assert result.claim is False
    assert "is not one of Search[QUERY]" in model.asked[1][1][-1]["content"]


def test_plan_and_execute_plans_once():
    method = PlanAndExecute(subtasks="webshop")
    result, model, _ = play(method, PLAN + AND, "Products: none")
    assert (result.claim, model.purposes) == (False, ["decompose", "act"])


@pytest.mark.parametrize("method", [Adapt(subtasks="webshop"), PlanAndExecute(subtasks="webshop")])
def test_modules_are_for_webshop_alone(method):
    with pytest.raises(UsageError, match="subtasks=webshop .* not for boxes"):
        run(BoxesInWords(), "ball/2", method, Replies())


@pytest.mark.parametrize(("planner", "plans"), [("adapt", 2), ("plan_and_execute", 1)])
def test_the_planners_demonstrations_are_plans_in_modules(planner, plans):
    values = {"goal": "g", "page": "p", "failed": (), "reply": "", "problem": ""}
    system = Prompts.cached().messages(f"{planner}/webshop_plan", **values)[0]["content"]
    found = [parse_decomposition(each) for each in re.findall(r"<example>\n(.*?)</example>", system, re.DOTALL)]
    assert len(found) == plans
    assert all(parse_module(step) for plan in found for step in plan.steps.values())


def test_the_stand_in_plays_the_modules():
    results = [run(ENV, f"buy/{n}", adapt(), ScriptedModel()) for n in range(10)]
    assert any(result.success for result in results)
    assert any(result.claim for result in results)
