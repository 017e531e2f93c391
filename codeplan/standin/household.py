"""The stand-in's rules for the household: it fills in templates, mends plans, makes mistakes, and acts turn by turn."""

from __future__ import annotations

import json
import re
from ast import literal_eval
from collections.abc import Callable, Iterable
from functools import partial
from string import Template
from typing import Any, NamedTuple

from codeplan.standin.mistakes import MistakeInserter, hashed_fraction
from codeplan.standin.plan_edits import (
    AgentVocabulary,
    edit_step,
    failed_step,
    first_fix,
    first_match,
    remove_step,
    split_steps,
)
from codeplan.standin.prompt_reading import COMPLETED_LINE, ExecutorPrompt, give_up_line
from codeplan.types import Value

_FOOD = "countertop diningtable fridge sinkbasin garbagecan sidetable microwave"
_CUTLERY = "countertop diningtable drawer sinkbasin sidetable"
_CROCKERY = "countertop diningtable cabinet sinkbasin shelf fridge microwave sidetable coffeetable desk dresser"
_COOKWARE = "stoveburner countertop diningtable cabinet sinkbasin"
_CUP = (
    "countertop diningtable coffeemachine sinkbasin shelf desk sidetable coffeetable cabinet microwave fridge dresser"
)
_SPICE = "countertop diningtable cabinet drawer shelf sidetable"
_BOTTLE = "countertop diningtable shelf garbagecan cabinet fridge sinkbasin sidetable coffeetable desk"
_BATH = "countertop toilet sinkbasin bathtubbasin cart shelf garbagecan sidetable cabinet drawer"
_LINEN = "handtowelholder towelholder countertop toilet bathtubbasin cart shelf cabinet drawer laundryhamper"
_PAPER = "desk bed sidetable shelf coffeetable dresser sofa armchair diningtable countertop drawer cabinet"
_POCKET = "desk sidetable dresser coffeetable shelf sofa armchair bed diningtable countertop drawer safe cabinet"
_DECORATION = "shelf dresser sidetable coffeetable desk diningtable countertop tvstand cabinet drawer safe"
_CUSHION = "sofa armchair bed ottoman"
_LAMP = "desk sidetable dresser shelf coffeetable diningtable countertop tvstand floor"

_THINGS_BY_PLACES = {
    _FOOD: "apple bread egg lettuce potato tomato",
    _CUTLERY: "butterknife fork knife ladle spatula spoon",
    _CROCKERY: "bowl plate",
    _COOKWARE: "kettle pan pot",
    _CUP: "cup mug",
    _SPICE: "peppershaker saltshaker",
    _BOTTLE: "glassbottle winebottle wateringcan",
    _BATH: "candle cottonswab dishsponge plunger scrubbrush soapbar soapbottle spraybottle tissuebox toiletpaper "
    "papertowelroll papertowel toiletpaperroll",
    _LINEN: "cloth handtowel towel",
    _PAPER: "book laptop newspaper magazine box basketball baseballbat tennisracket teddybear",
    _POCKET: "alarmclock cd cellphone creditcard keychain pen pencil remotecontrol watch",
    _DECORATION: "boots houseplant statue vase",
    _CUSHION: "pillow blanket",
    _LAMP: "desklamp floorlamp",
}
_PLACES = {thing: places.split() for places, things in _THINGS_BY_PLACES.items() for thing in things.split()}

_OPEN = "countertop diningtable desk sidetable dresser shelf coffeetable sofa armchair bed sinkbasin stoveburner"
_HIDDEN = "coffeemachine toilet bathtubbasin cart ottoman tvstand garbagecan drawer cabinet fridge microwave safe"
_ANYWHERE = f"{_OPEN} {_HIDDEN} laundryhamper".split()


def sort_by_likelihood(thing: str, receptacles: Iterable[str]) -> list[str]:
    """The receptacles (``"shelf 2"``), sorted by how likely they hold a thing of this class."""
    return sorted(receptacles, key=lambda r: (_rank(thing, r), _receptacle_class(r), _receptacle_number(r)))


def likely_places(thing: str, receptacles: Iterable[str]) -> list[str]:
    """The receptacles where such a thing is usually kept, likeliest first; empty for unknown things."""
    kept = _PLACES.get(thing, ())
    return sort_by_likelihood(thing, [r for r in receptacles if _receptacle_class(r) in kept])


def unlikely_places(thing: str, receptacles: Iterable[str]) -> list[str]:
    """A wrong guess: up to three receptacles of the least likely class."""
    ordered = sort_by_likelihood(thing, receptacles)
    return [r for r in ordered if _receptacle_class(r) == _receptacle_class(ordered[-1])][:3] if ordered else []


def answer_question(question: str) -> str | None:
    """The Python literal that answers a plan's question: places by likelihood, or a thing's name in a view."""
    thing = next((word for word in re.findall(r"\b[a-z]+\b", question) if word in _PLACES), "")
    lists = [found for text in re.findall(r"\[[^\[\]]*\]", question) if (found := _parse_names(text)) is not None]
    if lists:
        return repr(sort_by_likelihood(thing, lists[-1]))
    if thing and (seen := re.search(rf"\b{thing} \d+", question)):
        return repr(seen[0])
    return None


def _parse_names(text: str) -> list[str] | None:
    try:
        value = literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return value if all(isinstance(v, str) for v in value) else None


def _rank(thing: str, receptacle: str) -> int:
    cls, order = _receptacle_class(receptacle), [*_PLACES.get(thing, ()), *_ANYWHERE]
    return order.index(cls) if cls in order else len(order)


def _receptacle_class(receptacle: str) -> str:
    return receptacle.split(" ")[0]


def _receptacle_number(receptacle: str) -> int:
    digits = receptacle.split(" ")[-1]
    return int(digits) if digits.isdigit() else 0


class ParsedHouseholdGoal(Value, frozen=True):
    """A household goal. ``kind`` is pick, clean, heat, cool, examine or pick_two.

    ``thing`` and ``lamp`` are classes of objects; ``target`` and ``appliance`` are receptacles in ``room``, or empty.
    """

    kind: str
    thing: str
    room: tuple[str, ...]
    target: str = ""
    appliance: str = ""
    lamp: str = ""


APPLIANCES = {"clean": "sinkbasin", "heat": "microwave", "cool": "fridge"}

_STATES = {"clean": "clean", "hot": "heat", "cool": "cool", "cold": "cool"}
_THING = r"(?:an? |some |the )?(?P<thing>\w+)"
_TARGET = r"(?:in/on|into|in|on) (?:an? |the )?(?P<target>\w+)"
_GOALS = (
    ("examine", rf"(?:look at|examine) {_THING} (?:under|with|by|using) (?:an? |the )?(?P<lamp>\w*lamp)\b"),
    ("pick_two", rf"put two (?P<thing>\w+) {_TARGET}"),
    ("pick_two", rf"find two (?P<thing>\w+) and put them {_TARGET}"),
    ("treat", rf"put (?:an? |some )?(?P<state>clean|hot|cool|cold) (?P<thing>\w+) {_TARGET}"),
    ("treat", rf"(?P<state>clean|heat|cool) {_THING} and put it {_TARGET}"),
    ("pick", rf"put {_THING} {_TARGET}"),
)


def parse_goal(goal: str, observation: str) -> ParsedHouseholdGoal | None:
    """The goal in the room that the observation describes; None if it is not understood."""
    room = tuple(re.findall(r"\ban? (\w+ \d+)", observation.split("Your task is to")[0]))
    text = " ".join((goal or observation.partition("Your task is to")[2]).lower().split())
    for kind, pattern in _GOALS:
        if found := re.search(pattern, text):
            return _build_goal(kind, found.groupdict(), room)
    return None


def _build_goal(kind: str, words: dict[str, str], room: tuple[str, ...]) -> ParsedHouseholdGoal | None:
    if kind == "treat":
        kind = _STATES.get(words["state"], words["state"])
    appliance = _first_receptacle(room, APPLIANCES.get(kind, ""))
    target = _first_receptacle(room, words.get("target", ""))
    if not room or (kind in APPLIANCES and not appliance) or (kind != "examine" and not target):
        return None
    return ParsedHouseholdGoal(kind, words["thing"], room, target, appliance, words.get("lamp", ""))


def _first_receptacle(room: tuple[str, ...], kind: str) -> str:
    return next((r for r in room if r.split(" ")[0] == kind), "")


# ------------------------------------------------------------------ the plan, step by step

_HEAD = Template("""\
def solution(agent, start_from=1):
    # General plan: $outline
    def visit(place):
        # What there is to see at a place; a closed one is opened.
        if agent.location == place:
            return ''
        view = agent.goto(place)
        if 'is closed' in view:
            view = agent.open_receptacle(place)
        return view

    def find(name, places, seen, other_than=''):
        # An object of this name and where it is. A place that was seen before is not visited again.
        if agent.holding and agent.holding.startswith(name + ' '):
            return agent.holding, agent.location
        # Where the agent stands comes last: a place shows what it holds on arrival only.
        for place in [*seen, *sorted(places, key=lambda p: p == agent.location)]:
            if place not in seen:
                seen[place] = visit(place)
            for each in re.findall(r'\\b' + name + r' \\d+', seen[place]):
                if each != other_than:
                    return each, place
        return '', ''

""")

_FIND = Template("""\
    if start_from <= $step:
        print('[Step $step] $why')
        places = $places
$fresh        $found, $place = find('$name', places, seen$other)
$ask        assert $found, f'Error in [Step $step]: no $what found in {list(seen)}. {agent.report()}'
""")

_ASK = Template("""\
        rest = [r for r in agent.receptacles if r not in seen]
        if not $found and rest:
            question = f'I look for a $name in a household. It is not in {list(seen)}. In which order should I look'
            advice = ask_llm(question + f' into these places: {rest}? Answer with a Python list.')
            $found, $place = find('$name', literal_eval(advice), seen$other)
""")

_TAKE = Template("""\
    if start_from <= $step:
        print('[Step $step] I take the $name that I found')
        if agent.holding != $found:
            visit($place)
            agent.take($found, $place)
        assert agent.holding == $found, f'Error in [Step $step]: I cannot take {$found} from {$place}. {agent.report()}'
""")

_TREAT = Template("""\
    if start_from <= $step:
        print('[Step $step] I go to the $appliance and $verb the $name there')
        visit('$appliance')
        answer = agent.$verb(found, '$appliance')
        done = f'You $verb the {found}' in answer
        assert done, f'Error in [Step $step]: I cannot $verb {found} with the $appliance. {agent.report()}'
""")

_PUT = Template("""\
    if start_from <= $step:
        print('[Step $step] I go to the $target and put the $name there')
        visit('$target')
        agent.put($found, '$target')
        done = agent.holding != $found
        assert done, f'Error in [Step $step]: I cannot put {$found} in/on the $target. {agent.report()}'
""")

_SWITCH = Template("""\
    if start_from <= $step:
        print('[Step $step] I go to the $lamp and turn it on, with the $name in my hand')
        visit(spot)
        answer = agent.turn_on(lamp)
        assert 'You turn on' in answer, f'Error in [Step $step]: I cannot turn on {lamp} at {spot}. {agent.report()}'
""")


def write_plan(goal: ParsedHouseholdGoal, *, thorough: bool = False) -> str:
    """A correct plan. A thorough one searches the whole room, not only the likely places."""
    return _HEAD.substitute(outline=outline(goal)) + "".join(_steps(goal, thorough))


def outline(goal: ParsedHouseholdGoal) -> str:
    """A one-line summary of the plan."""
    name = goal.thing
    match goal.kind:
        case "examine":
            return f"find a {name}, take it, find a {goal.lamp}, turn it on."
        case "pick_two":
            return f"find a {name}, take it, put it in/on the {goal.target}, then the same with another {name}."
        case "pick":
            return f"find a {name}, take it, put it in/on the {goal.target}."
        case verb:
            return f"find a {name}, take it, {verb} it with the {goal.appliance}, put it in/on the {goal.target}."


def places_to_search(thing: str, room: tuple[str, ...], thorough: bool) -> list[str]:
    """The likely places for a thing, likeliest first; the whole room if ``thorough`` or if there are none."""
    return (not thorough and likely_places(thing, room)) or sort_by_likelihood(thing, room)


def _steps(goal: ParsedHouseholdGoal, thorough: bool) -> list[str]:
    first = [_find(goal, thorough, 1), _take(goal, 2)]
    match goal.kind:
        case "examine":
            switch = _SWITCH.substitute(step=4, lamp=goal.lamp, name=goal.thing)
            return [*first, _find(goal, thorough, 3, "lamp"), switch]
        case "pick_two":
            second = [_find(goal, thorough, 4, "second"), _take(goal, 5, "second"), _put(goal, 6, "second")]
            return [*first, _put(goal, 3), *second]
        case "pick":
            return [*first, _put(goal, 3)]
        case verb:
            treat = _TREAT.substitute(step=3, verb=verb, appliance=goal.appliance, name=goal.thing)
            return [*first, treat, _put(goal, 4)]


def _find(goal: ParsedHouseholdGoal, thorough: bool, step: int, found: str = "found") -> str:
    """The step that finds the first or second thing, or the lamp."""
    name, place = (goal.lamp, "spot") if found == "lamp" else (goal.thing, "place")
    what = f"second {name}" if found == "second" else name
    why = f"I look for a {what}, likely places first"
    if found == "lamp":
        why = f"I hold the {goal.thing} and look for a {name}"
    names = {"name": name, "found": found, "place": place, "other": ", found" if found == "second" else ""}
    return _FIND.substitute(
        names,
        step=step,
        why=why,
        what=what,
        places=places_to_search(name, goal.room, thorough),
        fresh="        seen = {}\n" if found == "found" else "",
        ask=_ASK.substitute(names),
    )


def _take(goal: ParsedHouseholdGoal, step: int, found: str = "found") -> str:
    return _TAKE.substitute(step=step, name=goal.thing, found=found, place="place")


def _put(goal: ParsedHouseholdGoal, step: int, found: str = "found") -> str:
    return _PUT.substitute(step=step, name=goal.thing, target=goal.target, found=found)


# ------------------------------------------------------------------ acting turn by turn


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
    return [_THEN.join(_write_clause(stage) for stage in part) for part in (rest[:half], rest[half:]) if part]


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


# ------------------------------------------------------------------ mistakes

MISTAKE_NAMES = ("forgotten_walk", "wrong_guess", "unknown_method", "syntax_error")
"""In the order of insertion."""


def mistake_inserters(goal: ParsedHouseholdGoal) -> dict[str, MistakeInserter]:
    """The inserters for a plan with this goal, by mistake."""
    inserters = (_remove_walk, partial(_search_unlikely_places, goal), _insert_unknown_method, _insert_syntax_error)
    return dict(zip(MISTAKE_NAMES, inserters, strict=True))


def _remove_walk(plan: str, which: float) -> str:
    walks = list(re.finditer(r"^        visit\(.*\)\n", plan, re.MULTILINE))
    walk = walks[int(which * len(walks))]
    return plan[: walk.start()] + plan[walk.end() :]


def _search_unlikely_places(goal: ParsedHouseholdGoal, plan: str, which: float) -> str:
    first, step_2 = re.split(r"(?=^    if start_from <= 2:)", plan, maxsplit=1, flags=re.MULTILINE)
    places = str(unlikely_places(goal.thing, goal.room))
    first = re.sub(r"(?<=^        places = ).*$", places, first, flags=re.MULTILINE)
    unasked = re.sub(r"^        rest = .*?(?=^        assert)", "", first, flags=re.MULTILINE | re.DOTALL)
    return unasked + step_2


def _insert_unknown_method(plan: str, which: float) -> str:
    wrong = {"clean": "wash", "heat": "warm_up", "cool": "chill", "take": "pick_up", "turn_on": "switch_on"}
    used = [right for right in wrong if f"agent.{right}(" in plan]
    choice = int(which * (len(used) + 1))
    if choice == len(used):
        return plan.replace("        seen = {}\n", "        seen = {}\n        agent.look_around()\n")
    return plan.replace(f"agent.{used[choice]}(", f"agent.{wrong[used[choice]]}(")


def _insert_syntax_error(plan: str, which: float) -> str:
    options = ("def visit(place):", "if not found and rest:", "places, seen)\n", "agent.take(found, place)")
    present = [option for option in options if option in plan]
    right = present[int(which * len(present))]
    return plan.replace(right, right[:-2] + "\n" if right.endswith("\n") else right[:-1], 1)


# ------------------------------------------------------------------ mending plans

_METHODS = {"goto", "take", "put", "open_receptacle", "close_receptacle", "clean", "heat", "cool", "turn_on", "report"}
_ATTRIBUTES = {"location", "holding", "receptacles"}
_WRONG_NAMES = {
    "clean": "wash rinse scrub wash_up",
    "heat": "warm warm_up microwave cook",
    "cool": "chill cool_down refrigerate",
    "take": "pick_up pickup pick grab get take_from pick_up_object",
    "put": "place put_down drop put_in put_on move",
    "goto": "go_to go walk_to walk move_to",
    "turn_on": "switch_on use toggle turn_on_lamp",
    "open_receptacle": "open",
    "close_receptacle": "close",
}
AGENT_VOCABULARY = AgentVocabulary(frozenset(_METHODS | _ATTRIBUTES), _WRONG_NAMES)


class HouseholdFeedback(Value, frozen=True):
    """The facts in the feedback; empty, or None for ``step``, if not mentioned."""

    text: str
    step: int | None
    location: str
    holding: str
    last_action: str
    last_observation: str

    @property
    def was_refused(self) -> bool:
        """Whether the last action had no effect."""
        return self.last_observation.startswith("Nothing happens")


def parse_feedback(feedback: str) -> HouseholdFeedback:
    """Read the facts in the feedback."""
    return HouseholdFeedback(
        feedback,
        failed_step(feedback),
        first_match(r"I am (?:at|in|before) (?:the )?([\w ]+?)[,.]", feedback),
        first_match(r"holding (?:an? )?([\w ]+?)[.,]", feedback).replace("nothing", ""),
        first_match(r"[Ll]ast action: ['\"](.+?)['\"];", feedback),
        first_match(r"answered: ['\"](.+?)['\"]", feedback),
    )


def refine_plan(source: str, feedback: str, goal: ParsedHouseholdGoal) -> str:
    """The plan with its failing step mended; a new, thorough plan if the feedback shows no fix."""
    report = parse_feedback(feedback)
    mended = first_fix(source, feedback, AGENT_VOCABULARY, (fix(source, report, goal) for fix in _FIXES))
    return write_plan(goal, thorough=True) if mended is None else mended


def _search_other_places(source: str, report: HouseholdFeedback, goal: ParsedHouseholdGoal) -> str | None:
    """The searched places did not have the object: search the others."""
    found = re.search(r"no (?:second |other )?(\w+) found in \[(.*?)\]", report.text)
    if not found:
        return None
    searched = re.findall(r"\w+ \d+", found[2])
    rest = sort_by_likelihood(found[1], [r for r in goal.room if r not in searched])
    return edit_step(source, report.step, r"(?<=^        places = ).*$", lambda _: str(rest)) if rest else None


def _walk_there_first(source: str, report: HouseholdFeedback, goal: ParsedHouseholdGoal) -> str | None:
    """The agent used something from afar: walk there first, in this and every later step that does not."""
    place = re.match(r"(?:clean|heat|cool|put|move) \w+ \d+ (?:with|in/on|to) (\w+ \d+)$", report.last_action)
    afar = place[1] != report.location if place else report.last_action.startswith("use ")
    return _add_walks(source, report.step) if report.was_refused and afar else None


def _empty_hands_first(source: str, report: HouseholdFeedback, goal: ParsedHouseholdGoal) -> str | None:
    """The agent holds something else: put it down somewhere before taking."""
    if not (report.was_refused and report.last_action.startswith("take ") and report.holding):
        return None
    spots = sort_by_likelihood(report.holding.split(" ")[0], goal.room)[:4]

    def put_down_first(call: re.Match[str]) -> str:
        indent = call[1]
        return (
            f"{indent}for spot in {spots}:\n{indent}    if agent.holding:\n"
            f"{indent}        {_walk_function(source)}(spot)\n"
            f"{indent}        agent.put(agent.holding, spot)\n{_walk_back_line(call, source)}{call[0]}"
        )

    return edit_step(source, report.step, r"^( *)agent\.take\((\w+), (\w+)\)$", put_down_first)


def _open_target_first(source: str, report: HouseholdFeedback, goal: ParsedHouseholdGoal) -> str | None:
    """The target is closed: open it first."""
    if not (report.was_refused and re.match(r"put |move ", report.last_action)):
        return None
    call = r"^( *)((?:\w+ = )?agent\.put\(\w+, ('[^']+'|\w+)\))$"
    return edit_step(source, report.step, call, lambda m: f"{m[1]}agent.open_receptacle({m[3]})\n{m[0]}")


_FIXES: tuple[Callable[[str, HouseholdFeedback, ParsedHouseholdGoal], str | None], ...] = (
    _search_other_places,
    _walk_there_first,
    _empty_hands_first,
    _open_target_first,
)


# ------------------------------------------------------------------ editing a plan's text

_USES_PLACE = re.compile(
    r"^( *)(?:\w+ = )?agent\.(?:(?:clean|heat|cool|put)\(\w+, ('[^']+'|\w+)|turn_on\(\w+)\)", re.MULTILINE
)


def _add_walks(source: str, step: int | None) -> str | None:
    if step is None:
        return None
    walk = _walk_function(source)
    return "".join(
        _walk_before_use(part, walk) if number >= step else part for number, part in split_steps(source).items()
    )


def _walk_before_use(part: str, walk: str) -> str:
    """The step with a walk to the place that it uses, unless it has one."""
    used = _USES_PLACE.search(part)
    if not used:
        return part
    place = used[2] or "spot"
    if re.search(rf"(?:visit|approach|goto)\({re.escape(place)}\)", part[: used.start()]):
        return part
    return f"{part[: used.start()]}{used[1]}{walk}({place})\n{part[used.start() :]}"


def _walk_function(source: str) -> str:
    """The function with which the plan walks: its own helper, if it has one."""
    own = re.search(r"def (visit|approach)\(place\):", source)
    return own[1] if own else "agent.goto"


def _walk_back_line(call: re.Match[str], source: str) -> str:
    return f"{call[1]}{_walk_function(source)}({call[3]})\n"


# ------------------------------------------------------------------ exemplars in a prompt

_SKILL = re.compile(r'<skill name="[^"\n]*">\n(.*?)\n</skill>', re.DOTALL)
_WORKED_EXAMPLE = re.compile(r"A worked example .*?```python\n(.*?)```", re.DOTALL)
_SKILL_HEAD = re.compile(
    r"^ *# Parameters, with their values for the task: (?P<goal>.*)\n(?P<lines>(?:.*\n)*?) *# End of the parameters\.$",
    re.MULTILINE,
)
_PARAMETER = re.compile(r"^(?P<margin> *)(?P<name>\w+) = (?P<value>[\"\[].*?)(?:  \((?P<about>.*)\))?$", re.MULTILINE)

_KIND_CALLS = {"clean": "agent.clean(", "heat": "agent.heat(", "cool": "agent.cool(", "examine": "agent.turn_on("}
"""The call that only plans for this kind of task contain."""


def draft_with_exemplars(system: str, goal: str, observation: str, own_plan: str, gaps: float, seed: int) -> str:
    """The first plan: the prompt's first skill, or else the stand-in's own plan, perhaps with a gap."""
    if parse_goal(goal, observation) is None:
        return own_plan
    return _follow_skill(system, goal, observation) or _with_gap(system, goal, observation, own_plan, gaps, seed)


def refine_with_exemplars(system: str, goal: str, observation: str, own_plan: str, gaps: float, seed: int) -> str:
    """A better plan. Where the stand-in would start over, it follows the prompt's skill instead, if there is one."""
    parsed = parse_goal(goal, observation)
    if parsed and own_plan == write_plan(parsed, thorough=True):
        return draft_with_exemplars(system, goal, observation, own_plan, gaps, seed)
    return _with_gap(system, goal, observation, own_plan, gaps, seed)


def bind_parameters(earlier_goal: str, parameters: str, goal: str, observation: str) -> str:
    """The JSON object with the value of each listed parameter for the task."""
    found = [(p["name"], json.loads(p["value"]), p["about"] or "") for p in _PARAMETER.finditer(parameters)]
    return json.dumps(_bind_values(found, earlier_goal, goal, observation))


# ------------------------------------------------------------------ following a skill


def _follow_skill(system: str, goal: str, observation: str) -> str | None:
    """The plan of the prompt's first skill with its parameters set for the task; None without a skill."""
    found = _SKILL.search(system)
    if not found:
        return None
    plan = found[1]
    head = _SKILL_HEAD.search(plan)
    if not head:
        return plan
    abouts = dict(re.findall(r"^ *# (\w+): (.*)$", head["lines"], re.MULTILINE))
    listed = _PARAMETER.finditer(head["lines"])
    parameters = [(p["name"], json.loads(p["value"]), abouts.get(p["name"], "")) for p in listed]
    values = _bind_values(parameters, head["goal"], goal, observation)
    lines = _PARAMETER.sub(lambda p: f"{p['margin']}{p['name']} = {json.dumps(values[p['name']])}", head["lines"])
    start, end = head.span("lines")
    return plan[: head.start("goal")] + goal + plan[head.end("goal") : start] + lines + plan[end:]


def _bind_values(found: Iterable[tuple[str, Any, str]], earlier: str, goal: str, observation: str) -> dict[str, Any]:
    given = list(found)
    before, now = parse_goal(earlier, _imagined_room([v for _, v, _ in given], earlier)), parse_goal(goal, observation)
    if before is None or now is None:
        return {name: value for name, value, _ in given}
    return {name: _bind_value(value, about, before, now) for name, value, about in given}


def _bind_value(value: Any, about: str, before: ParsedHouseholdGoal, now: ParsedHouseholdGoal) -> Any:
    """The value in this task that corresponds to a value of the earlier task."""
    if isinstance(value, list):
        thing = now.lamp if before.lamp and before.lamp in about and now.lamp else now.thing
        return places_to_search(thing, now.room, thorough=False)
    same = {before.thing: now.thing, before.lamp: now.lamp, before.appliance: now.appliance, before.target: now.target}
    sort = str(value).split(" ")[0]
    return same.get(value) or next((r for r in now.room if r.split(" ")[0] == sort), value)


def _imagined_room(values: Iterable[Any], goal: str) -> str:
    """An observation of a room with everything that the values and the goal name."""
    named = [v for value in values for v in ([value] if isinstance(value, str) else value)]
    kinds = [*re.findall(r"[a-z]+", goal.lower()), *APPLIANCES.values()]
    return "You see " + ", ".join(f"a {name}" for name in [*named, *(f"{kind} 1" for kind in kinds)])


# ------------------------------------------------------------------ lacking an exemplar


def _with_gap(system: str, goal: str, observation: str, own_plan: str, gaps: float, seed: int) -> str:
    parsed = parse_goal(goal, observation)
    if parsed is None or _has_exemplar(system, parsed.kind) or hashed_fraction(seed, observation + goal, "gap") >= gaps:
        return own_plan
    return _leave_out(own_plan, parsed)


def _has_exemplar(system: str, kind: str) -> bool:
    """Whether an exemplar in the prompt shows how to do this kind of task; ``pick`` needs none."""
    exemplars = [*_SKILL.findall(system), *_WORKED_EXAMPLE.findall(system)]
    if kind == "pick_two":
        return any(e.count("agent.put(") > 1 for e in exemplars)
    return kind == "pick" or any(_KIND_CALLS[kind] in e for e in exemplars)


def _leave_out(plan: str, parsed: ParsedHouseholdGoal) -> str:
    """The plan without the part that defines its kind."""
    if parsed.kind in ("examine", "pick_two"):
        return "".join(text for number, text in split_steps(plan).items() if number <= 2)  # finding and taking
    numbers = (number for number, text in split_steps(plan).items() if number and _KIND_CALLS[parsed.kind] in text)
    step = next(numbers, None)
    return plan if step is None else remove_step(plan, step)
