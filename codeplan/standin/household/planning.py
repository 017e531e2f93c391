"""Plans for the household: parses the goal and the room, and fills in templates."""

from __future__ import annotations

import re
from string import Template

from codeplan.standin.household.places import likely_places, sort_by_likelihood
from codeplan.types import Value


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
