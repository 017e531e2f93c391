"""Solves a game with full knowledge of it, to show that the game can be won."""

from __future__ import annotations

from codeplan.envs.household import engine
from codeplan.envs.household.game import Game
from codeplan.untrusted.values import in_quotes


def find_walkthrough(game: Game) -> tuple[str, ...]:
    """Return actions that win the game from ``game.initial_state``, in which the agent may hold an object.

    Raises: ValueError if this simple strategy does not reach the goal.
    """
    solver = _Solver(game)
    if not engine.is_goal_reached(game, solver.state):
        solver.solve()
    if not engine.is_goal_reached(game, solver.state):
        raise ValueError(f"no actions were found that reach this goal: {game.goal_text}")
    return tuple(solver.actions)


class _Solver:
    """A state of the game and the actions that led to it. Objects and receptacles are indices."""

    def __init__(self, game: Game) -> None:
        self.game, self.state = game, game.initial_state
        self.actions: list[str] = []

    def solve(self) -> None:
        self.empty_the_hand()
        if self.game.goal.lamp is not None:
            self.fetch(self.targets(1)[0])
            self.light(self.game.goal.lamp)
        else:
            self.bring_targets()

    def targets(self, count: int, avoid: int | None = None) -> list[int]:
        """Objects that can serve the goal and are not in the receptacle ``avoid``."""
        goal = self.game.goal
        needed = {"pickupable"} | {t.trait for t in engine.TREATMENTS.values() if t.condition == goal.condition}
        fit = [
            o
            for o, it in enumerate(self.game.objects)
            if it.kind == goal.object and needed <= it.traits and self.home(o) not in (None, avoid)
        ]
        if len(fit) < count:
            raise ValueError(f"there are too few objects of kind {goal.object} for the goal: {self.game.goal_text}")
        return fit[:count]

    def empty_the_hand(self) -> None:
        """Put down the held object, here if that is allowed."""
        o = self.state.holding
        if o is None:
            return
        fit = [r for r, it in enumerate(self.game.receptacles) if (it.kind, self.kind(o)) in self.game.can_contain]
        if not fit:
            raise ValueError(f"the {self.game.objects[o].name} in the hand cannot be put down anywhere")
        r = min(fit, key=lambda r: self.game.receptacles[r].location != self.state.location)
        self.visit(r)
        self.put(o, r)

    def bring_targets(self) -> None:
        """Treat and place as many objects as the goal asks for, counting objects that are in place already."""
        goal = self.game.goal
        there = self.fullest(goal.receptacle or "")
        counts_untreated = goal.condition is None
        lying = sum(self.is_target(o) for o in self.state.contents[there]) if counts_untreated else 0
        for o in self.targets(goal.count - lying, avoid=there if counts_untreated else None):
            self.bring(o, there)

    def bring(self, o: int, r: int) -> None:
        self.fetch(o)
        self.treat(o)
        self.visit(r)
        self.put(o, r)

    def put(self, o: int, r: int) -> None:
        head, middle = self.game.dialect.put_command
        self.do(f"{head}{self.game.objects[o].name}{middle}{self.game.receptacles[r].name}")

    def fetch(self, o: int) -> None:
        home = self.home(o)
        if home is not None:
            self.visit(home)
            self.do(f"take {self.game.objects[o].name} from {self.game.receptacles[home].name}")

    def treat(self, o: int) -> None:
        for verb, treatment in engine.TREATMENTS.items():
            if treatment.condition == self.game.goal.condition:
                r = self.nearest(treatment.appliance)
                self.go(r)
                self.do(f"{verb} {self.game.objects[o].name} with {self.game.receptacles[r].name}")

    def light(self, lamp: str) -> None:
        for o, it in enumerate(self.game.objects):
            home = self.home(o)
            if it.kind == lamp and home is not None:
                self.go(home)
                return self.do(f"use {it.name}")
        raise ValueError(f"there is no {lamp} in this household")

    def home(self, o: int) -> int | None:
        return next((r for r, contents in enumerate(self.state.contents) if o in contents), None)

    def fullest(self, kind: str) -> int:
        """The receptacle of a kind that holds the most objects of the goal's kind."""
        return max(self.all_of(kind), key=lambda r: sum(self.is_target(o) for o in self.state.contents[r]))

    def kind(self, o: int) -> str:
        return self.game.objects[o].kind

    def is_target(self, o: int) -> bool:
        return self.kind(o) == self.game.goal.object

    def nearest(self, kind: str) -> int:
        """A receptacle of a kind: one within reach, otherwise the first."""
        return min(self.all_of(kind), key=lambda r: self.game.receptacles[r].location != self.state.location)

    def all_of(self, kind: str) -> list[int]:
        found = [r for r, it in enumerate(self.game.receptacles) if it.kind == kind]
        if not found:
            raise ValueError(f"there is no {kind} in this household")
        return found

    def visit(self, r: int) -> None:
        """Go to a receptacle and open it if it is closed."""
        self.go(r)
        if self.game.receptacles[r].openable and r not in self.state.opened:
            self.do(f"open {self.game.receptacles[r].name}")

    def go(self, r: int) -> None:
        if self.game.receptacles[r].location != self.state.location:
            self.do(f"go to {self.game.receptacles[r].name}")

    def do(self, action: str) -> None:
        outcome = engine.try_action(self.game, self.state, action)
        if outcome is None:
            raise ValueError(f"the action {in_quotes(action)} cannot be done there")
        self.state = outcome[0]
        self.actions.append(action)
