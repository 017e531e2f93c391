"""The stand-in's replies that hold only what changes in a plan, and how it reads them in a conversation."""

import random

import pytest
from support.standin_prompts import CLEAN, CORRECT, PARSED, PLAIN, PROMPTS, REPORT, ROOM, ask_for_plan

from codeplan.errors import ModelError
from codeplan.sandbox import Sandbox
from codeplan.sandbox.language.extraction import MergedReply, extract_code
from codeplan.standin.household import write_plan
from codeplan.standin.mistakes import Mistakes
from codeplan.standin.model import ScriptedModel
from codeplan.standin.plan_edits import apply_changes, split_steps, write_changes
from codeplan.standin.prompt_reading import infer_purpose, read_refinement

FORGOTTEN = "[Step 3], line 40 raised AssertionError: Error in [Step 3]: I could not clean. {}"
REPORTED = (
    "I am at countertop 1, holding lettuce 1. Last action: 'clean lettuce 1 with sinkbasin 1'; "
    "it was answered: 'Nothing happens.'"
)


def fenced(code):
    return {"role": "assistant", "content": f"```python\n{code.strip()}\n```"}


def told(feedback):
    return {"role": "user", "content": f"<feedback>\n{feedback}\n</feedback>\n\n<log>\n1. go\n</log>\n\nAnswer."}


def opening():
    return PROMPTS.messages("adaplanner/plan", api="", left=(), observation=ROOM + CLEAN, goal=CLEAN, **PLAIN)


def merged(plan, reply):
    """The plan that codeplan makes of a reply."""
    found = Sandbox().merge_reply(extract_code(f"```python\n{reply}```"), plan)
    return found.source if isinstance(found, MergedReply) else reply


def lines(plan):
    return [line.rstrip() for line in plan.split("\n") if line.strip()]


def forgetful():
    """A plan without the walk to the sink, and what happens to it."""
    plan = CORRECT.replace("        visit('sinkbasin 1')\n", "")
    assert plan != CORRECT
    return plan, FORGOTTEN.format(REPORTED)


def refine(messages, purpose="refine"):
    return ScriptedModel(mistakes="none").complete(messages, purpose=purpose)


# ------------------------------------------------------------------ what changes


def changed_versions():
    thorough = write_plan(PARSED, thorough=True)
    yield CORRECT, thorough
    yield thorough, CORRECT
    for number, part in split_steps(CORRECT).items():
        if number:
            yield CORRECT, CORRECT.replace(part, part.replace("print(", "print('so', ", 1))
    yield CORRECT, CORRECT.replace("def visit(place):\n", "def visit(place):\n        agent.report()\n")
    yield CORRECT, f"{CORRECT.rstrip()}\n    if start_from <= 9:\n        assert agent.report()\n"


@pytest.mark.parametrize(("before", "after"), list(changed_versions()))
def test_what_changes_leads_to_the_plan_for_both_sides(before, after):
    reply = write_changes(before, after)
    assert lines(apply_changes(before, reply)) == lines(after)
    assert lines(merged(before, reply)) == lines(after)


def test_only_steps_and_definitions_that_change_are_written():
    after = CORRECT.replace("agent.clean(found", "agent.clean('lettuce 1'")
    reply = write_changes(CORRECT, after)
    assert reply.startswith("if start_from <= 3:")
    assert reply.count("start_from") == 1


def test_a_plan_that_loses_a_step_is_written_whole():
    after = "".join(part for number, part in split_steps(CORRECT).items() if number <= 2)
    assert write_changes(CORRECT, after) == after
    assert apply_changes(CORRECT, after) == after


def test_a_plan_that_stays_the_same_is_written_whole():
    assert write_changes(CORRECT, CORRECT) == CORRECT


def test_all_first_plans_with_mistakes_lead_to_the_correct_one():
    chance = random.Random(3)
    for seed in range(30):
        first = ask_for_plan(model=ScriptedModel(chance.randrange(1000), Mistakes(forgotten_walk=0.7, wrong_guess=0.5)))
        assert lines(merged(first, write_changes(first, CORRECT))) == lines(CORRECT), seed


# ------------------------------------------------------------------ prompts


def test_a_page_of_its_own_and_a_conversation_get_the_same_reply():
    plan, feedback = forgetful()
    about = {"api": "", "observation": ROOM + CLEAN, "goal": CLEAN, **PLAIN, **REPORT}
    page = refine(PROMPTS.messages("adaplanner/refine", **about, source=plan, feedback=feedback))
    talk = refine([*opening(), fenced(plan), told(feedback)])
    assert page.text == talk.text
    assert "if start_from <= 3:" in page.text
    assert "def solution" not in page.text


def test_later_turns_change_the_plan_of_the_turns_before():
    plan, feedback = forgetful()
    first = refine([*opening(), fenced(plan), told(feedback)]).text
    messages = [*opening(), fenced(plan), told(feedback), {"role": "assistant", "content": first}, told("Stopped.")]
    found = read_refinement(messages)
    assert lines(found.plan) == lines(merged(plan, extract_code(first)))
    assert found.feedback == "Stopped."


def test_after_dropped_turns_the_first_reply_is_the_whole_plan_of_that_time():
    plan, feedback = forgetful()
    found = read_refinement([*opening(), fenced(CORRECT), told("x"), fenced(plan), told(feedback)])
    assert found == (plan.strip(), feedback)


@pytest.mark.parametrize("margin", ["", "    "])
def test_changes_are_read_at_the_margin_and_inside(margin):
    step = "if start_from <= 2:\n    assert agent.look()\n"
    inner = "".join(f"{margin}{line}\n" for line in step.splitlines())
    assert "    if start_from <= 2:\n        assert agent.look()\n" in apply_changes(CORRECT, inner)


def test_a_conversation_shows_its_purpose():
    plan, feedback = forgetful()
    messages = [*opening(), fenced(plan), told(feedback)]
    system, user = ("\n".join(m["content"] for m in messages if m["role"] == role) for role in ("system", "user"))
    assert infer_purpose(system, user) == "refine"


def test_a_conversation_without_feedback_is_an_error():
    plan, _ = forgetful()
    messages = [*opening(), fenced(plan), {"role": "user", "content": "Go on."}]
    with pytest.raises(ModelError, match="no plan or no feedback"):
        refine(messages)


def test_feedback_without_a_plan_is_answered_with_a_whole_plan():
    _, feedback = forgetful()
    assert lines(extract_code(refine([*opening(), told(feedback)]).text)) == lines(CORRECT)


def test_the_feedback_has_the_answers_that_it_names() -> None:
    log = "[Step 1]\n1. look -> Dark.\n2-3. open box -> Open:\n    a ball\n    a key (x 2)\n10. read -> Text."
    last = f"<feedback>\nno: <answer 2> <answer 1>, <answer 7>\n</feedback>\n\n<log>\n{log}\n</log>"
    found = read_refinement(
        [{"role": "assistant", "content": f"```python\n{CORRECT}\n```"}, {"role": "user", "content": last}]
    )
    assert found is not None
    assert found.feedback == "no: Open:\na ball\na key (x 2) Dark., <answer 7>"
