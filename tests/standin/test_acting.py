"""The scripted stand-in as an executor: it acts by the transcript, takes goals apart, and learns from what it did."""

from collections import Counter

import pytest
from support.standin_prompts import next_line

from codeplan import envs, methods
from codeplan.errors import UsageError
from codeplan.runner.episodes import run
from codeplan.standin.model import ScriptedModel, formalise_action


def rate(env, method, weakness, per_kind=3, **settings):
    """How many of some test tasks of each kind were won."""
    made = methods.make(method, **settings)
    won, played = Counter(), Counter()
    for task in envs.make(env).tasks("test"):
        if played[task.kind] < per_kind:
            played[task.kind] += 1
            won[task.kind] += run(env, task, made, "scripted", weakness=weakness).success
    return {kind: won[kind] / played[kind] for kind in played}


def mean(rates):
    return sum(rates.values()) / len(rates)


@pytest.mark.parametrize("env", ["household", "textcraft"])
def test_without_a_weakness_it_wins_most_tasks_by_itself(env):
    assert mean(rate(env, "react", "none")) > 0.8


def test_adapt_wins_more_the_deeper_it_may_go():
    rates = [mean(rate("household", "adapt", "span", max_depth=depth)) for depth in (1, 2, 3, 4)]
    assert rates == sorted(rates)
    assert rates[0] == 0
    assert rates[-1] > 0.8


def test_adapt_needs_the_depth_of_the_recipe():
    for depth in (2, 3, 4):
        rates = rate("textcraft", "adapt", "span", max_depth=depth)
        assert rates == {f"depth{n}": float(n <= depth) for n in (4, 3, 2)}


@pytest.mark.parametrize("env", ["household", "textcraft"])
def test_reflexion_succeeds_more_often_than_trying_again(env):
    again, reflected = rate(env, "try-again", "forgetful"), rate(env, "reflexion", "forgetful")
    assert mean(reflected) > mean(again)
    assert all(reflected[kind] >= again[kind] for kind in again)


def test_an_unknown_weakness_is_refused():
    with pytest.raises(UsageError, match="the weakness 'lazy' is not known; give one of none, span, forgetful"):
        ScriptedModel(weakness="lazy")


def line(*arguments, **more):
    return next_line(("go to RECEPTACLE",), *arguments, **more)


ROOM = "You are in the middle of a room. Looking quickly around you, you see a desk 1, a drawer 1, and a shelf 1.\n\nYour task is to: put a pen in shelf."


def test_it_looks_takes_and_puts():
    turns = []
    for answer in ("You arrive at loc 1. On the desk 1, you see a pen 2.", "You pick up the pen 2 from the desk 1."):
        said = line(ROOM, "put a pen in shelf.", turns)
        turns.append((said, answer))
    assert [said for said, _ in turns] == ["go to desk 1", "take pen 2 from desk 1"]
    assert line(ROOM, "put a pen in shelf.", turns) == "go to shelf 1"


def test_it_reads_from_the_notes_what_was_done_before():
    notes = ("> take pen 2 from desk 1\nYou pick up the pen 2 from the desk 1.",)
    assert line(ROOM, "put the pen in/on the shelf 1", notes=notes) == "go to shelf 1"


@pytest.mark.parametrize(
    ("said", "meant"),
    [("I will go to the desk 1.", "go to desk 1"), ("take a mug 2 from the desk 1", "take mug 2 from desk 1")],
)
def test_it_puts_a_line_into_the_form_of_an_action(said, meant):
    assert formalise_action(f"<line>\n{said}\n</line>") == meant
