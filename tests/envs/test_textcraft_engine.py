"""TextCraft's recipes, rules and sentences."""

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from codeplan.envs.textcraft.environment import (
    UNCRAFTABLE_ITEMS,
    CraftingRecipe,
    Ingredient,
    RecipeBook,
    TextCraft,
    TextCraftSnapshot,
    apply_action,
    read_data_file,
    recipe_book,
)

FIXTURES = Path(__file__).parents[2] / ".." / "shared" / "fixtures"
SUGAR = "craft 1 sugar using 1 sugar cane"


def fixture(name):
    if not (FIXTURES / name).exists():
        pytest.skip(f"there is no {name} beside the repository")
    return (FIXTURES / name).read_text()


def play(*actions, **held):
    """The answer to the last of some actions that begin with an inventory."""
    inventory, answer = held, ""
    for action in actions:
        inventory, answer, _ = apply_action(recipe_book(), inventory, action)
    return answer


# ------------------------------------------------------------------ the recipes


def test_there_are_613_recipes_for_544_items():
    assert (len(recipe_book().recipes), len(recipe_book().recipes_by_output)) == (613, 544)
    assert len(read_data_file("recipes.txt").encode()) == 26_364


def test_the_table_is_the_verified_one():
    assert read_data_file("recipes.txt") == fixture("textcraft_recipes.txt")


def test_the_goals_are_those_of_the_original():
    listed = json.loads(fixture("textcraft_test_goals.json"))
    tasks = TextCraft().tasks("test")
    assert [(t.seed, t.goal, t.kind) for t in tasks] == [
        (g["seed"], f"craft {g['goal']}", f"depth{g['depth']}") for g in listed
    ]


def test_a_line_of_the_table_is_a_recipe():
    small = RecipeBook("stick*4@sticks=2 #planks\nshield*1=6 #planks,1 iron_ingot\n")
    assert small.recipes == (
        CraftingRecipe("stick", 4, (Ingredient("planks", 2, is_category=True),), "sticks"),
        CraftingRecipe("shield", 1, (Ingredient("planks", 6, is_category=True), Ingredient("iron_ingot", 1))),
    )
    assert small.recipes[1].command == "craft 1 shield using 6 planks, 1 iron ingot"


def test_items_have_depths_0_to_4():
    depths = [recipe_book().depth(item) for item in recipe_book().recipes_by_output]
    assert [depths.count(d) for d in range(1, 6)] == [147, 274, 112, 11, 0]
    assert (recipe_book().depth("string"), recipe_book().depth("planks"), recipe_book().depth("lodestone")) == (0, 1, 4)


def test_uncraftable_items_can_be_got():
    assert len(UNCRAFTABLE_ITEMS) == 18
    assert all(recipe_book().is_obtainable(item) for item in UNCRAFTABLE_ITEMS)
    assert not set(UNCRAFTABLE_ITEMS) & set(recipe_book().recipes_by_output)


def test_two_recipes_with_the_same_text_are_one_command():
    assert [r.command for r in recipe_book().recipes_by_output["sugar"]].count(SUGAR) == 2
    assert list(recipe_book().recipes_needed_for("sugar")).count(SUGAR) == 1


def test_needed_recipes_include_every_alternative_and_every_sort():
    needed = recipe_book().recipes_needed_for("shield")
    assert len([c for c in needed if " planks using " in c]) == 8
    assert list(recipe_book().recipes_needed_for("stick"))[-1] == "craft 4 acacia planks using 1 acacia logs"
    assert {"craft 1 stick using 2 bamboo", "craft 4 stick using 2 planks"} <= set(
        recipe_book().recipes_needed_for("stick")
    )


# ------------------------------------------------------------------ get, inventory, and what is neither


@pytest.mark.parametrize(
    ("action", "answer"),
    [
        ("get 1 oak logs", "Got 1 oak logs"),
        ("get 1 oak_logs", "Got 1 oak_logs"),
        ("get 007 string", "Got 7 string"),
        ("get 0 string", "Got 0 string"),
        ("get 3 diamond", "Got 3 diamond"),
        ("get 1 honey block", "Got 1 honey block"),
        ("get 1 string\nplease", "Got 1 string"),
        ("get 999999999999999999 string", "Got 999999999999999999 string"),
        *(
            (f"get 1 {item}", f"Could not find {item}")
            for item in ("stick", "planks", "dragon's egg", "String", "string ")
        ),
        ("inventory", "Inventory: You are not carrying anything."),
        ("inventory, please", "Inventory: You are not carrying anything."),
        *((f"get {count} string", f"Could not execute get {count} string") for count in ("-1", "1.5", "²", "9" * 5000)),
        *(
            (text, f"Could not execute {text}")
            for text in ("", "get string", " get 1 string", "Inventory", "craft stick")
        ),
    ],
)
def test_an_action_is_answered_in_the_words_of_the_original(action, answer):
    assert play(action) == answer


def test_the_inventory_is_in_the_order_of_arrival():
    came = ("get 2 string", "get 1 oak logs", "get 3 string")
    assert play(*came, "inventory") == "Inventory: [string] (5) [oak logs] (1) "
    assert play(*came, "craft 1 white wool using 4 string", "inventory") == (
        "Inventory: [string] (1) [oak logs] (1) [white wool] (1) "
    )
    assert play("get 0 string", "inventory") == "Inventory: [string] (0) "


def test_a_used_up_item_comes_last_when_it_is_got_again():
    used = ("get 4 string", "get 1 flint", "craft 1 white wool using 4 string", "get 1 string", "inventory")
    assert play(*used) == "Inventory: [flint] (1) [white wool] (1) [string] (1) "


# ------------------------------------------------------------------ craft


def no_recipe(count, item, tag=None):
    shown = f"tag='minecraft:{tag}', item_id=None" if tag else f"tag=None, item_id='minecraft:{item}'"
    return f"Could not find a valid recipe for ItemTagWithCount(item_tag=ItemTag({shown}), count={count})"


@pytest.mark.parametrize(
    ("held", "action", "answer"),
    [
        ({"oak_logs": 1}, "craft 4 oak planks using 1 oak logs", "Crafted 4 minecraft:oak_planks"),
        ({"oak_logs": 1}, "craft oak planks using 1 oak logs", "Crafted 4 minecraft:oak_planks"),
        ({"oak_logs": 1}, "craft 9 oak planks using 1 oak logs", "Crafted 4 minecraft:oak_planks"),
        ({"oak_planks": 2}, "craft 4 stick using 2 oak planks", "Crafted 4 minecraft:stick"),
        ({"bamboo": 2}, "craft 1 stick using 2 bamboo", "Crafted 1 minecraft:stick"),
        (
            {"iron_ingot": 1, "oak_planks": 6},
            "craft 1 shield using 1 iron ingot,6 oak planks",
            "Crafted 1 minecraft:shield",
        ),
        ({}, "craft 4 stick using 2 planks", "Could not find enough items to craft minecraft:stick"),
        ({"oak_planks": 2}, "craft 4 stick using 2 planks", "Could not find enough items to craft minecraft:stick"),
        ({"oak_planks": 1}, "craft 4 stick using 2 oak planks", "Could not find enough items to craft minecraft:stick"),
        ({}, "craft 4 planks using 1 oak logs", "Could not find enough items to craft None"),
        ({"oak_logs": 1}, "craft 4 planks using 1 oak logs", no_recipe(4, None, tag="planks")),
        ({"oak_logs": 2}, "craft 8 oak planks using 2 oak logs", no_recipe(8, "oak_planks")),
        ({"oak_logs": 1}, "craft 2 dragon using 1 oak logs", no_recipe(2, "dragon")),
        (
            {"oak_planks": 1, "birch_planks": 1},
            "craft 4 stick using 1 oak planks, 1 birch planks",
            no_recipe(4, "stick"),
        ),
        ({"white_wool": 1, "stick": 8}, "craft 1 painting using 8 stick, 1 white wool", no_recipe(1, "painting")),
        ({"red_wool": 1, "stick": 8}, "craft 1 painting using 8 stick, 1 red wool", "Crafted 1 minecraft:painting"),
        ({"oak_planks": 2}, "craft 4 stick using oak planks", "Wrong item format: oak planks"),
        ({"oak_planks": 2}, "craft 4 stick using 2 oak planks, ", "Wrong item format: "),
        (
            {"oak_planks": 2},
            "craft 4 stick using 2 oak planks and string",
            "Could not find enough items to craft minecraft:stick",
        ),
        ({"string": 2}, "craft 1 bow using " + "9" * 19 + " string", "Wrong item format: " + "9" * 19 + " string"),
    ],
)
def test_crafting_is_answered_in_the_words_of_the_original(held, action, answer):
    assert play(action, **held) == answer


def test_failed_crafting_takes_nothing():
    assert play("craft 8 oak planks using 2 oak logs", "inventory", oak_logs=2) == "Inventory: [oak logs] (2) "


def test_recipes_of_ingredients_do_not_leak_into_their_products():
    assert play("craft 4 polished granite stairs using 4 granite", granite=4) == no_recipe(4, "polished_granite_stairs")


# ------------------------------------------------------------------ recorded episodes

THOUGHTS = "think"  # the method answers these, not the environment


def episodes(complete):
    listed = [json.loads(line) for line in fixture("textcraft_transcripts.jsonl").splitlines()]
    return [e for e in listed if e["complete_trace"] == complete]


def begin(episode):
    env = TextCraft(exact=True, actions=1000)
    first = env.reset(env.tasks("test")[episode["seed"]])
    assert first.text == "Crafting commands:\n" + "\n".join(episode["commands"]) + f"\n\nGoal: {episode['goal']}."
    return env


def held_in(observation):
    return {name.replace(" ", "_"): int(n) for name, n in re.findall(r"\[([^\]]+)\] \((\d+)\)", observation)}


def test_every_complete_recorded_episode_replays_with_the_same_observations_and_reward():
    complete = episodes(complete=True)
    for episode in complete:
        env, best = begin(episode), 0.0
        for action, observed in (pair for segment in episode["segments"] for pair in segment):
            if not action.startswith(THOUGHTS):
                answer = env.step(action)
                assert (action, answer.text) == (action, observed)
                best = max(best, answer.reward)
        assert best == episode["reward"]
    assert len(complete) == 11


def test_recorded_segments_replay_from_their_first_inventory():
    replayed = 0
    for episode in episodes(complete=False):
        env = begin(episode)
        for segment in episode["segments"]:
            acts = [(a, o) for a, o in segment if not a.startswith(THOUGHTS)]
            looks = [i for i, (_, observed) in enumerate(acts) if observed.startswith("Inventory: ")]
            if looks:  # earlier actions are not fully recorded: begin with the first known inventory
                env.restore(TextCraftSnapshot(held_in(acts[looks[0]][1])))
                answers = [(action, env.step(action).text) for action, _ in acts[looks[0] :]]
                assert answers == acts[looks[0] :]
                replayed += len(answers)
    assert replayed > 500


# ------------------------------------------------------------------ laws

ITEMS = sorted(recipe_book().items | recipe_book().categories)
SEQUENCES = int(os.environ.get("CODEPLAN_SEQUENCES", "30"))
"""The number of action sequences to try."""


class Crafting(RuleBasedStateMachine):
    """Random actions, compared with a plain count of items got and used."""

    @initialize(seed=st.integers(0, 396))
    def begin(self, seed):
        self.env = TextCraft(actions=10_000)
        self.task = next(t for s in ("test", "dev", "train") for t in self.env.tasks(s) if t.seed == seed)
        self.env.reset(self.task)
        self.commands = self.env.commands(self.task)
        self.counts = {}

    def going(self):
        return not self.env.snapshot().done

    def do(self, action):
        before = dict(self.env.snapshot().inventory)
        answer = self.env.step(action)
        assert before == self.counts, "an inventory that was seen must not change"
        assert answer.done == answer.success == bool(answer.reward)
        return answer.text

    def try_to_get(self, count, item):
        if self.do(f"get {count} {item.replace('_', ' ')}").startswith("Got "):
            self.add(item, count)

    def add(self, item, count):
        assert recipe_book().is_obtainable(item)
        self.counts[item] = self.counts.get(item, 0) + count

    @precondition(going)
    @rule(count=st.integers(0, 9), item=st.sampled_from(ITEMS))
    def get(self, count, item):
        self.try_to_get(count, item)

    @precondition(going)
    @rule(data=st.data())
    def follow_a_command(self, data):
        command = data.draw(st.sampled_from(self.commands))
        recipe = next(r for r in recipe_book().recipes if r.command == command)
        taken = {}
        for each in recipe.ingredients:
            sorts = (
                [i for i, c in recipe_book().category_of_item.items() if c == each.name]
                if each.is_category
                else [each.name]
            )
            taken[next((s for s in sorts if s in self.counts), sorts[0])] = each.count
        supplied = data.draw(st.booleans())
        for item, count in taken.items():
            if supplied and recipe_book().is_obtainable(item):
                self.try_to_get(count, item)
        listed = ", ".join(f"{n} {item.replace('_', ' ')}" for item, n in taken.items())
        answer = self.do(f"craft {recipe.count} {recipe.output.replace('_', ' ')} using {listed}")
        if not answer.startswith("Crafted "):
            assert any(self.counts.get(item, 0) < n for item, n in taken.items())
            return
        for item, count in taken.items():
            self.counts[item] -= count
        self.counts[recipe.output] = self.counts.get(recipe.output, 0) + recipe.count
        self.counts = {item: n for item, n in self.counts.items() if n or item not in taken}

    @precondition(going)
    @rule(
        text=st.text(max_size=30),
        frame=st.sampled_from(["{}", "get {}", "get 1 {}", "craft {} using {}", "craft 1 {}"]),
    )
    def do_nonsense(self, text, frame):
        answer = self.do(frame.replace("{}", text))
        assert not answer.startswith("Crafted ")
        if got := re.fullmatch(r"Got (\d+) (.+)", answer):
            self.add(got[2].replace(" ", "_"), int(got[1]))

    @precondition(going)
    @rule()
    def look(self):
        assert held_in(self.do("inventory")) == self.counts

    @invariant()
    def counts_agree_and_are_never_negative(self):
        held = self.env.snapshot().inventory if hasattr(self, "env") else {}
        assert all(count >= 0 for count in held.values())
        if held:
            assert dict(held) == self.counts

    @precondition(lambda self: not self.going())
    @rule()
    def begin_again(self):
        assert self.env.step("inventory").text == "The episode is over."
        self.env.reset(self.task)
        self.counts = {}

    @precondition(going)
    @rule()
    def the_goal_can_still_be_reached(self):
        here = self.env.snapshot()
        assert [self.env.step(action) for action in self.env.walkthrough(self.task)][-1].success
        self.env.restore(here)


TestCrafting = Crafting.TestCase
TestCrafting.settings = settings(max_examples=SEQUENCES, stateful_step_count=40, deadline=None)
