"""ReAct: turns of thoughts and actions, and what ends them."""

import pytest
from support.boxes import Boxes, BoxesInWords, Replies

from codeplan.errors import ModelError, UsageError
from codeplan.methods.react import ReAct
from codeplan.planning.turns import first_line, is_thought, normalise_action, parse_claim
from codeplan.runner.episodes import run


def play(*replies, env=None, **settings):
    model = Replies(*replies)
    return run(env or BoxesInWords(), "ball/2", ReAct(**settings), model), model


def test_thoughts_are_acknowledged_and_actions_done():
    result, model = play("think: I open box 1 first.", "open 1", "open 2")
    assert (result.success, result.actions, result.model_calls) == (True, 2, 3)
    shown = model.asked[-1][1][-1]["content"]
    assert "> think: I open box 1 first.\nOK.\n> open 1\nIt is empty." in shown
    assert "- open NUMBER" in model.asked[0][1][0]["content"]


@pytest.mark.parametrize(
    ("replies", "reason", "claims"),
    [
        (["open 1", "think: Task completed!"], "it says that the task is done", True),
        (["think: There is no ball. Task failed."], "it says that it cannot do the task", False),
        (["open 1", "open 3", "open 1"], "3 turns in a row did nothing", None),
        (["think: hm", "think: hm", "open 1"], "3 turns in a row did nothing", None),
    ],
)
def test_what_ends_it(replies, reason, claims):
    result, model = play(*replies)
    assert (result.reason, result.claim, result.success) == (reason, claims, False)
    assert model.replies == []


def test_its_calls_are_limited():
    result, _ = play(*["open 1"] * 9, max_idle_turns=99, calls=4)
    assert (result.reason, result.model_calls) == ("no end in 4 turns", 4)


def test_the_end_of_the_episode_ends_it():
    result, _ = play("open 1", "open 3", "open 1", env=BoxesInWords(max_actions=2), max_idle_turns=9)
    assert (result.reason, result.actions) == ("the environment ended the episode", 2)


def test_the_formaliser_is_shown_the_environments_own_examples():
    for env, example in (("household", "Action: open drawer 4"), ("hotpotqa", "Action: search[Elbe]")):
        model = Replies("I look around")
        with pytest.raises(ModelError, match="no reply is left for formalise"):
            run(env, method=ReAct(formalise=True), model=model)
        assert example in model.asked[1][1][0]["content"]


def test_the_formaliser_sees_the_last_three_turns():
    thoughts = [f"think: {word}" for word in ("red", "green", "blue", "grey")]
    result, model = play(*thoughts, "the second box", "open 2", formalise=True, max_idle_turns=9)
    assert (result.success, model.purposes) == (True, ["act"] * 5 + ["formalise"])
    shown = model.asked[-1][1][-1]["content"]
    assert "<transcript>\n> think: green\nOK.\n> think: blue\nOK.\n> think: grey\nOK.\n</transcript>" in shown
    assert "<line>\nthe second box\n</line>" in shown


def test_a_thought_before_each_action_can_be_asked_for():
    replies = ["I am at step 1.", "open 1", "think: at step 2", "I open two", "open 2"]
    result, model = play("I am at step 1.", "open 1", "think: at step 2", "open 2", thoughts="forced", calls=2)
    assert (result.success, result.actions, model.purposes) == (True, 2, ["act"] * 4)
    shown = model.asked[-1][1][-1]["content"]
    assert "> think: I am at step 1.\nOK.\n> open 1\nIt is empty.\n> think: at step 2\nOK." in shown
    result, model = play(*replies, thoughts="forced", calls=1)
    assert (result.reason, result.actions, len(model.replies)) == ("no end in 1 turn", 1, 3)


def test_of_a_forced_turn_only_the_action_is_put_into_form_and_counts_as_idle():
    replies = ["at step 1", "the first box", "open 1", "at step 2", "the third box", "open 3"]
    result, model = play(*replies, thoughts="forced", formalise=True, max_idle_turns=2)
    assert result.reason == "2 turns in a row did nothing"
    assert model.purposes == ["act", "act", "formalise"] * 2


@pytest.mark.parametrize(("claim", "reason"), [("completed", "the task is done"), ("failed", "it cannot do the task")])
def test_a_forced_thought_with_a_claim_ends_it(claim, reason):
    result, _ = play("at step 1", "open 1", f"Task {claim}!", thoughts="forced")
    assert (result.reason, result.actions) == (f"it says that {reason}", 1)


def test_an_action_that_looks_like_a_thought_is_still_done_if_the_thought_was_forced():
    result, _ = play("at step 1", "think: open 2", thoughts="forced", calls=1)
    assert (result.actions, result.success) == (1, False)


@pytest.mark.parametrize(
    ("reply", "line"),
    [
        ("open 1", "open 1"),
        ("\n\n> open 1\nopen 2", "open 1"),
        ("> > Action 3: open 1 ", "open 1"),
        ("", ""),
        ("think: a\nopen 1", "think: a"),
    ],
)
def test_a_reply_says_its_first_line(reply, line):
    assert first_line(reply) == line


def test_thoughts_and_claims_are_recognised_by_their_words():
    assert is_thought("Thought 3: so")
    assert not is_thought("I think: so")
    assert parse_claim("think: now the TASK COMPLETED.") is True
    assert parse_claim("think: Task failed") is False
    assert parse_claim("open the completed task") is None


def test_slips_of_form_are_put_right_as_the_environment_says():
    from codeplan import envs

    space = envs.make("household").space
    assert normalise_action("put mug 1 in desk 2", space) == "put mug 1 in/on desk 2"
    assert normalise_action("put mug 1 on desk 2", space) == "put mug 1 in/on desk 2"
    assert normalise_action("put mug 1 in/on desk 2", space) == "put mug 1 in/on desk 2"


def test_an_environment_that_does_not_tell_its_actions_is_refused():
    with pytest.raises(UsageError, match="does not describe its actions"):
        play("open 1", env=Boxes())
