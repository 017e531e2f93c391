"""Which worked examples a prompt shows: of the task's kind or a similar one, and never the task itself."""

import re
from types import SimpleNamespace

import pytest
from support.boxes import Boxes, Replies

import codeplan
from codeplan.envs import make
from codeplan.errors import UsageError
from codeplan.methods.adaplanner import AdaPlanner
from codeplan.planning.asking import SampleSettings, choose_samples, sample_for
from codeplan.prompts.templates import Prompts

ASKING = "def solution(agent, start_from=1):\n    ask_llm('Where?')\n"


def boxes(tmp_path, similar=None, **samples):
    """Prompts with these samples by kind, and the environment that they belong to."""
    (tmp_path / "boxes").mkdir()
    for kind, text in samples.items():
        (tmp_path / "boxes" / f"{kind}.j2").write_text(text)
    about = {} if similar is None else {"similar_kinds": similar}
    return Prompts(tmp_path), SimpleNamespace(name="boxes", kinds=("find", "fill", "open"), **about)


def chosen(prompts, env, kind="find", goal="find the ball", count=1, kinds=(), **settings):
    asks, wanted = settings.pop("asks", True), SampleSettings(count=count, kinds=tuple(kinds), **settings)
    return [(s.text, s.relation) for s in choose_samples(prompts, env, kind, goal, wanted, asks=asks)]


def test_the_example_of_the_tasks_kind_is_shown_as_such(tmp_path):
    assert chosen(*boxes(tmp_path, find="F", fill="G")) == [("F", "another task of this kind")]


def test_an_example_of_another_kind_is_not_shown_unasked(tmp_path):
    assert chosen(*boxes(tmp_path, fill="G", open="O")) == []


def test_an_example_of_a_similar_kind_stands_in_and_says_so(tmp_path):
    assert chosen(*boxes(tmp_path, {"find": ("open",)}, fill="G", open="O")) == [("O", "a task of a similar kind")]


def test_more_examples_are_of_other_kinds_the_nearest_first(tmp_path):
    found = chosen(*boxes(tmp_path, {"find": ("open",)}, find="F", fill="G", open="O"), count=3)
    assert [text for text, _ in found] == ["F", "O", "G"]
    assert found[2][1] == "a task of another kind"


def test_named_kinds_are_shown_whatever_the_tasks_kind(tmp_path):
    prompts, env = boxes(tmp_path, find="F", fill="G")
    assert chosen(prompts, env, kinds=["fill"]) == [("G", "a task of another kind")]
    assert chosen(prompts, env, kinds=["fill", "find"]) == [("F", "another task of this kind")]


SEVERAL = {"find": "F", "find_2": "# Task: Find the ball\nF2", "find_3": "F3", "find_5": "F5", "open": "O"}


@pytest.mark.parametrize(
    ("count", "shown"), [(1, "F"), (2, "F F2"), (3, "F F2 F3"), (4, "F F2 F3 O"), (5, "F F2 F3 O G")]
)
def test_a_kind_may_have_several_examples_numbered_without_gaps(tmp_path, count, shown):
    found = chosen(*boxes(tmp_path, {"find": ("open",)}, **SEVERAL, fill="G"), goal="find the cup", count=count)
    assert [text.splitlines()[-1] for text, _ in found] == shown.split()
    assert {relation for _, relation in found[:3]} == {"another task of this kind"}


def test_a_left_out_example_makes_room_for_the_next_of_its_kind(tmp_path):
    found = chosen(*boxes(tmp_path, **SEVERAL), count=2)
    assert [text for text, _ in found] == ["F", "F3"]


def test_an_example_of_a_kind_with_a_number_in_its_name_is_not_one_of_the_kind_without(tmp_path):
    prompts, env = boxes(tmp_path, **SEVERAL)
    env.kinds = ("find", "find_2")
    assert chosen(prompts, env, count=3, table="kind") == [("F", "another task of this kind")]


@pytest.mark.parametrize(("kinds", "shown"), [((), ["F", "F3"]), (("find", "open"), ["F", "F3"]), (("open",), [])])
def test_by_kind_no_example_of_another_kind_is_shown(tmp_path, kinds, shown):
    found = chosen(*boxes(tmp_path, {"find": ("open",)}, **SEVERAL), count=9, kinds=kinds, table="kind")
    assert [text for text, _ in found] == shown


@pytest.mark.parametrize("table", ["nearest", "kind", "paper"])
def test_no_examples_are_shown_if_none_are_asked_for(tmp_path, table):
    assert chosen(*boxes(tmp_path, find="F"), count=0, table=table) == []


@pytest.mark.parametrize("goal", ["find the ball", "Find  the ball.", "find the\nball?"])
@pytest.mark.parametrize("header", ["# Task: ", "# You see: a box\n# Task: ", "# Question: "])
def test_an_example_of_the_very_task_is_not_shown(tmp_path, header, goal):
    prompts, env = boxes(tmp_path, {"find": ("open",)}, find=f"{header}Find the ball\ndef solution(): ...", open="O")
    assert chosen(prompts, env, goal=goal) == [("O", "a task of a similar kind")]
    assert chosen(prompts, env, goal="find the ball 2")[0][0].startswith("#")


def test_an_example_that_asks_is_not_shown_to_plans_that_may_not(tmp_path):
    prompts, env = boxes(tmp_path, {"find": ("open",)}, find=ASKING, open="O")
    assert chosen(prompts, env)[0][0] == ASKING.strip()
    assert chosen(prompts, env, asks=False) == [("O", "a task of a similar kind")]


def test_one_text_is_shown_once(tmp_path):
    assert chosen(*boxes(tmp_path, find="F", fill="F", open="O"), count=3) == [
        ("F", "another task of this kind"),
        ("O", "a task of another kind"),
    ]


@pytest.mark.parametrize("kind", ["", "_advice", "../household/heat"])
def test_a_kind_that_is_no_kind_has_no_example(tmp_path, kind):
    prompts, env = boxes(tmp_path, find="F", _advice="Look twice.")
    assert chosen(prompts, env, kind=kind) == []


def test_web_pages_without_an_example_have_none_but_that_of_a_similar_page():
    pages, prompts = make("miniwob"), Prompts.cached()
    assert chosen(prompts, pages, "click-button") == []
    assert chosen(prompts, pages, "login-user")[0][0] == prompts.sample("miniwob", "login-user-popup")


def test_every_similar_kind_has_an_example():
    prompts, household = Prompts.cached(), make("household")
    for env in (household, make("miniwob")):
        assert all(prompts.sample(env.name, each) for kinds in env.similar_kinds.values() for each in kinds)
    heat = chosen(prompts, household, "heat", "Heat some apple and put it in fridge.")
    assert heat == [(prompts.sample("household", "cool"), "a task of a similar kind")]


@pytest.mark.parametrize(
    ("folder", "name", "goal"),
    [
        (folder, name, goal)
        for folder in ("react", "adapt")
        for name, goal in (("household", "put a hot egg in shelf."), ("textcraft", "craft ladder"))
    ],
)
def test_no_method_shows_the_very_task_as_its_example(folder, name, goal):
    assert sample_for(Prompts.cached(), folder, name, goal) is None
    assert sample_for(Prompts.cached(), folder, name, f"{goal} twice")
    assert sample_for(Prompts.cached(), folder, name, "")


@pytest.mark.parametrize("broken", ["{% if %}", b"\xff\xfe", "{{ asks }}"])
@pytest.mark.parametrize("name", ["boxes/find", "boxes/_advice"])
def test_a_broken_example_or_advice_is_a_wrong_setting(tmp_path, name, broken):
    file = tmp_path / f"{name}.j2"
    file.parent.mkdir()
    file.write_bytes(broken if isinstance(broken, bytes) else broken.encode())
    with pytest.raises(UsageError, match=f"the prompt {name} "):
        codeplan.run(Boxes(), "ball/1", AdaPlanner(prompts=tmp_path), Replies())


def test_an_environment_brings_its_own_advice_or_none(tmp_path):
    prompts, _ = boxes(tmp_path, _advice="Look twice.")
    assert prompts.advice("boxes") == "Look twice."
    assert [Prompts.cached().advice(name) for name in ("boxes", "", "../household")] == [None] * 3


# ------------------------------------------------------------------ as in AdaPlanner's paper


def shown_goal(kind, count, **settings):
    """The goals of the examples for a household task of this kind."""
    found = chosen(Prompts.cached(), make("household", agent="paper"), kind, "another goal", count, **settings)
    return [re.search("^# Task: (.*)$", text, re.MULTILINE)[1] for text, _ in found]


@pytest.mark.parametrize("origin", ["own", "paper"])
@pytest.mark.parametrize(
    ("count", "served"),
    [
        (2, "clean clean clean clean examine examine"),
        (4, "pick clean clean clean examine pick_two"),
        (6, "pick clean heat cool examine pick_two"),
    ],
)
def test_the_papers_table_names_the_one_example_of_each_kind(count, served, origin):
    kinds = ("pick", "clean", "heat", "cool", "examine", "pick_two")
    for kind, of in zip(kinds, served.split(), strict=True):
        assert shown_goal(kind, count, table="paper", origin=origin) == shown_goal(of, 1, origin=origin)


def test_an_example_by_the_papers_table_says_whose_kind_it_is():
    found = [
        chosen(Prompts.cached(), make("alfworld"), kind, "x", 2, table="paper") for kind in ("clean", "heat", "pick")
    ]
    assert [relation for ((_, relation),) in found] == [
        "another task of this kind",
        "a task of a similar kind",
        "a task of another kind",
    ]


def test_the_papers_table_is_for_its_six_kinds_alone():
    with pytest.raises(UsageError, match="no sample for tasks of kind 'click-link'; it is for pick, clean"):
        chosen(Prompts.cached(), make("miniwob"), "click-link", count=2, table="paper")


def test_examples_in_the_papers_manner_ask_and_others_stand_in_where_plans_may_not():
    ((asking, _),) = chosen(Prompts.cached(), make("household"), "heat", origin="paper")
    assert asking.index("ask_llm(") < asking.index("[Step 2]")
    silent = chosen(Prompts.cached(), make("household"), "heat", origin="paper", asks=False)
    assert silent == chosen(Prompts.cached(), make("household"), "heat", asks=False) != []


@pytest.mark.parametrize("kind", ["guess-number", "tic-tac-toe"])
@pytest.mark.parametrize("origin", ["own", "paper"])
def test_a_page_whose_tasks_all_have_one_goal_shows_its_example(kind, origin):
    goal = {
        "guess-number": "Guess the number between 0-9 and press Submit. Use the feedback below to find the right number.",
        "tic-tac-toe": "Playing as 'X', win a game of tic-tac-toe.",
    }
    ((_, relation),) = chosen(Prompts.cached(), make("miniwob"), kind, goal[kind], origin=origin)
    assert relation == "another task of this kind"
