"""Laws that hold after any actions in a household.

CODEPLAN_SEQUENCES is the number of action sequences to try; ``make crosscheck`` tries 2,000.
"""

import os

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace
from support.small_house import apply_action

from codeplan.envs.household import engine
from codeplan.envs.household.environment import Household
from codeplan.envs.household.game import MOVE_DIALECT, PUT_DIALECT
from codeplan.envs.household.generator import KINDS, generate_game
from codeplan.envs.household.walkthrough import find_walkthrough

SEQUENCES = int(os.environ.get("CODEPLAN_SEQUENCES", "30"))


class HouseholdMachine(RuleBasedStateMachine):
    """Plays a game at random and continues after it is won."""

    @initialize(
        kind=st.sampled_from(KINDS),
        seed=st.integers(0, 10**9),
        dialect=st.sampled_from([PUT_DIALECT, MOVE_DIALECT]),
        difficulty=st.sampled_from(["easy", "normal", "hard"]),
        feedback=st.sampled_from(["plain", "augmented"]),
    )
    def begin(self, kind, seed, dialect, difficulty, feedback):
        self.game = generate_game(kind, seed, dialect, difficulty)
        self.env = Household(actions=10_000, dialect=dialect.name, difficulty=difficulty, feedback=feedback)
        self.env.reset(self.env.task(kind, seed))
        self.kept = []

    @property
    def state(self):
        return self.env.snapshot().state

    @rule(draw=st.floats(0, 1, exclude_max=True), about_goal=st.booleans())
    def do_an_admissible_action(self, draw, about_goal):
        actions = engine.admissible_actions(self.game, self.state)
        if about_goal:
            goal = self.game.goal
            actions = [a for a in actions if goal.object in a or (goal.receptacle or goal.lamp) in a] or actions
        self.env.restore(replace(self.env.snapshot(), done=False))
        answer = self.env.step(actions[int(draw * len(actions))])
        assert not answer.text.startswith("Nothing happens.")
        assert answer.success == engine.is_goal_reached(self.game, self.state)

    @rule(action=st.text(max_size=30))
    def do_nonsense(self, action):
        before = self.state
        if action.strip() not in engine.admissible_actions(self.game, before):
            self.env.restore(replace(self.env.snapshot(), done=False))
            assert self.env.step(action).text.startswith("Nothing happens.")
            assert self.state == before

    @rule()
    def keep_a_snapshot(self):
        self.kept.append((self.env.snapshot(), engine.admissible_actions(self.game, self.state)))

    @precondition(lambda self: self.kept)
    @rule(draw=st.floats(0, 1, exclude_max=True))
    def restore_a_snapshot(self, draw):
        snapshot, actions = self.kept[int(draw * len(self.kept))]
        self.env.restore(snapshot)
        assert engine.admissible_actions(self.game, self.state) == actions

    @invariant()
    def every_object_is_in_one_place(self):
        lying = [o for contents in self.state.contents for o in contents]
        held = [] if self.state.holding is None else [self.state.holding]
        assert sorted(lying + held) == list(range(len(self.game.objects)))
        for r, contents in zip(self.game.receptacles, self.state.contents, strict=True):
            assert all(self.state.places[o] == {r.location} for o in contents)
        assert all(not self.state.places[o] for o in held)

    @invariant()
    def nothing_is_hot_and_cool_and_only_doors_are_open(self):
        assert not self.state.hot & self.state.cool
        assert all(self.game.receptacles[r].openable for r in self.state.opened)

    @invariant()
    def the_goal_can_still_be_reached(self):
        rest = replace(self.game, initial_state=self.state)
        state = self.state
        for action in find_walkthrough(rest):
            state, _ = apply_action(rest, state, action)
        assert engine.is_goal_reached(rest, state)


TestHousehold = HouseholdMachine.TestCase
TestHousehold.settings = settings(max_examples=SEQUENCES, stateful_step_count=40, deadline=None)
