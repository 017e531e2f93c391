"""Acts in the household turn by turn, and splits household goals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from codeplan.standin.executor_prompt import COMPLETED_LINE, ExecutorPrompt, give_up_line
from codeplan.standin.household.places import sort_by_likelihood
from codeplan.standin.household.planning import APPLIANCES, parse_goal


class HouseholdStage(NamedTuple):
    """One thing to do: take, clean, heat, cool, put or use (a lamp). ``place`` says where; empty means anywhere.

    For ``take``, ``place`` is where not to take the thing from.
    """

    verb: str
    thing: str
    place: str = ""


_CLAUSES = (
    (re.compile(r"take an? (?P<thing>\w+)(?: that is not in/on the (?P<place>\w+ \d+))?"), "take"),
    (re.compile(r"(?P<verb>clean|heat|cool) the (?P<thing>\w+) with the (?P<place>\w+ \d+)"), ""),
    (re.compile(r"put the (?P<thing>\w+) in/on the (?P<place>\w+ \d+)"), "put"),
    (re.compile(r"turn on an? (?P<thing>\w+)"), "use"),
)
_THEN = ", then "


def act(prompt: ExecutorPrompt, weakness: str) -> str | None:
    """The next line; None if the goal is not understood."""
    wanted = parse_stages(prompt)
    if wanted is None:
        return None
    if weakness == "forgetful":
        wanted = [s for s in wanted if s.verb not in APPLIANCES or s.verb in prompt.notes]
    begun = _HouseholdProgress(wanted, prompt.earlier_turns)
    now = _HouseholdProgress(wanted, [*prompt.earlier_turns, *prompt.turns])
    if not now.remaining:
        return COMPLETED_LINE
    if weakness == "span" and len(now.remaining) < len(begun.remaining):
        return give_up_line("more is to be done than I can keep in mind")
    return now.next_action(_receptacles(prompt))


def decompose(prompt: ExecutorPrompt) -> list[str] | None:
    """The goal's remaining stages as two sub-goals; None if the goal is not understood."""
    wanted = parse_stages(prompt)
    if wanted is None:
        return None
    rest = _HouseholdProgress(wanted, prompt.earlier_turns).remaining
    half = (len(rest) + 1) // 2
    return [_write_clauses(part) for part in (rest[:half], rest[half:]) if part]


def reflect(prompt: ExecutorPrompt) -> str:
    """The lesson of a failed trial."""
    goal = parse_goal(prompt.goal, prompt.observation)
    done = " ".join(answer for _, answer in prompt.turns)
    if goal and goal.kind in APPLIANCES and f"You {goal.kind} the" not in done:
        return f"I have to {goal.kind} the {goal.thing} with the {goal.appliance} before I put it down."
    return "I have to look into the places that I have not seen yet."


def write_general_plan(reflections: str) -> str:
    """A plan in words for all tasks, from the lessons of some."""
    steps = ["Find the thing that the goal names, likely places first, and take it."]
    if re.search(r"clean|heat|cool", reflections):
        steps.append(
            "Where the goal says so, clean it with the sinkbasin, heat it with the microwave or cool it with the "
            "fridge, before it is put down."
        )
    steps.append("Go where the goal says and put it there; for a lamp, hold the thing and turn on the lamp.")
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def parse_stages(prompt: ExecutorPrompt) -> list[HouseholdStage] | None:
    """The goal's stages in order; None if the goal is not understood."""
    goal = parse_goal(prompt.goal, prompt.observation)
    if goal is None:
        clauses = [_parse_clause(clause) for clause in prompt.goal.strip().rstrip(".").split(_THEN)]
        return [c for c in clauses if c] if all(clauses) else None
    take, put = HouseholdStage("take", goal.thing), HouseholdStage("put", goal.thing, goal.target)
    match goal.kind:
        case "examine":
            return [take, HouseholdStage("use", goal.lamp)]
        case "pick":
            return [take, put]
        case "pick_two":
            return [take, put, HouseholdStage("take", goal.thing, goal.target), put]
        case verb:
            return [take, HouseholdStage(verb, goal.thing, goal.appliance), put]


def _parse_clause(clause: str) -> HouseholdStage | None:
    for pattern, verb in _CLAUSES:
        if found := pattern.fullmatch(clause):
            words = found.groupdict()
            return HouseholdStage(verb or words["verb"], words["thing"], words.get("place") or "")
    return None


def _write_clauses(part: Iterable[HouseholdStage]) -> str:
    return _THEN.join(_write_clause(stage) for stage in part)


def _write_clause(stage: HouseholdStage) -> str:
    match stage.verb:
        case "take":
            return f"take a {stage.thing}" + (f" that is not in/on the {stage.place}" if stage.place else "")
        case "put":
            return f"put the {stage.thing} in/on the {stage.place}"
        case "use":
            return f"turn on a {stage.thing}"
        case verb:
            return f"{verb} the {stage.thing} with the {stage.place}"


def _receptacles(prompt: ExecutorPrompt) -> list[str]:
    return re.findall(r"\ban? (\w+ \d+)", prompt.observation.split("Your task is to")[0])


class _HouseholdProgress:
    """The state after some turns. ``remaining`` are the stages still to do."""

    def __init__(self, wanted: list[HouseholdStage], turns: Iterable[tuple[str, str]]) -> None:
        self.place = self.holding = ""
        self.seen: dict[str, list[str]] = {}
        self.closed: set[str] = set()
        self.placed: set[str] = set()
        self.treated: set[tuple[str, str]] = set()
        self.refused_action = ""
        self.remaining = list(wanted)
        self._drop_done_stages("")
        for said, answer in turns:
            self._drop_done_stages(self._apply_turn(said, answer))

    def _apply_turn(self, said: str, answer: str) -> str:
        """Apply a turn; returns the verb of its action, empty if it had no effect."""
        verb, _, what = said.partition(" ")
        if answer.startswith("Nothing happens"):
            self.refused_action = said
            return ""
        if verb in ("go", "open"):
            self._look(what.removeprefix("to "), answer, opened=verb == "open")
        elif verb == "take":
            self.holding, _, self.place = what.partition(" from ")
            self.seen[self.place] = [o for o in self.seen.get(self.place, []) if o != self.holding]
        elif verb in ("put", "move"):
            self.placed.add(self.holding or re.split(r" in/on | to ", what)[0])
            self.holding, self.place = "", re.split(r" in/on | to ", what)[-1]
        elif verb in APPLIANCES:
            self.holding, _, self.place = what.partition(" with ")
            self.treated.add((verb, self.holding))
        return verb

    def _look(self, place: str, answer: str, opened: bool) -> None:
        self.place = place
        if "is closed" in answer and not opened:
            self.closed.add(place)
            return
        self.closed.discard(place)
        self.seen[place] = re.findall(r"\b(?:an? )(\w+ \d+)", answer.partition("you see")[2])

    def _drop_done_stages(self, done: str) -> None:
        while self.remaining and self._is_done(self.remaining[0], done):
            done = "" if self.remaining[0].verb in ("put", "use") else done
            self.remaining.pop(0)

    def _is_done(self, stage: HouseholdStage, done: str) -> bool:
        match stage.verb:
            case "take":
                return self.holding.startswith(f"{stage.thing} ")
            case "put":
                return done in ("put", "move")
            case "use":
                return done == "use"
            case verb:
                return (verb, self.holding) in self.treated

    # -------------------------------------------------------------- the next action

    def next_action(self, room: list[str]) -> str:
        stage = self.remaining[0]
        match stage.verb:
            case "take":
                return self._search(stage, room, lambda found: f"take {found} from {self.place}")
            case "use":
                return self._search(stage, room, lambda found: f"use {found}")
            case "put":
                return self._go_to(stage.place) or self._put(stage)
            case verb:
                return self._go_to(stage.place, opened=False) or f"{verb} {self.holding} with {stage.place}"

    def _put(self, stage: HouseholdStage) -> str:
        put = f"put {self.holding} in/on {stage.place}"
        return f"move {self.holding} to {stage.place}" if self.refused_action == put else put

    def _search(self, stage: HouseholdStage, room: list[str], reach: Callable[[str], str]) -> str:
        for place in (p for p in self.seen if p != stage.place):
            for found in self.seen[place]:
                if found.startswith(f"{stage.thing} ") and found not in self.placed:
                    return self._go_to(place) or reach(found)
        unseen = [p for p in sort_by_likelihood(stage.thing, room) if p not in self.seen and p != stage.place]
        if not unseen:
            return give_up_line(f"there is no {stage.thing} to be found")
        return self._go_to(unseen[0]) or f"examine {unseen[0]}"

    def _go_to(self, place: str, opened: bool = True) -> str:
        """The action that leads to a place, or opens it; empty if there is nothing to do."""
        if self.place != place:
            return f"go to {place}"
        return f"open {place}" if opened and place in self.closed else ""
