"""The stand-in's rules for nine kinds of ScienceWorld's tasks.

Its plans are walks of the engine's gold paths, for the kinds that need no experiment of many actions: finding a living
or non-living thing, life spans, the thermometer, and mixing a paint of two others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from string import Template

from codeplan.standin.mistakes import MistakeInserter, replace_call, replace_text
from codeplan.standin.plan_edits import AgentVocabulary, edit_step, failed_step, first_fix
from codeplan.types import Value

_FIND = re.compile(r"find a\(n\) ([a-z-]+(?: thing)?)\. .* move it to the (\w+ box) in the ([a-z ]+)\.")
_LIFE_SPANS = re.compile(r"focus on the animal with the (longest|shortest) life span", re.IGNORECASE)
_WHERE_ANIMALS = re.compile(r"The animals are in the '([a-z ]+)' location")
_MEASURE = re.compile(
    r"measure the temperature of ([\w ]+), which is located around the ([a-z ]+)\. .* "
    r"above (-?[\d.]+) degrees celsius, place it in the (\w+ box)\. .* place it in the (\w+ box)\. "
    r"The boxes are located around the ([a-z ]+)\."
)
_PAINT = re.compile(r"use chemistry to create (green|orange|violet) paint\. When")

_MIXED_OF = {"green": ("blue", "yellow"), "orange": ("red", "yellow"), "violet": ("red", "blue")}

_LIFE_SPAN_ORDER = (
    *("tortoise", "parrot", "elephant", "crocodile", "bear", "beaver", "wolf", "chipmunk", "toad", "rabbit"),
    *("hedgehog", "chameleon", "mouse", "dragonfly", "ant"),
)
"""Animals by the length of their lives, the longest first."""


class ScienceGoal(Value, frozen=True):
    """The goal of a task, as the parts of its plan.

    ``thing`` is what to seek, by the name of its rule; ``places`` are the rooms to seek it in, the likeliest first.
    ``target`` and ``room`` say where it belongs; ``details`` are the values that only this kind of task has.
    """

    thing: str
    places: tuple[str, ...]
    target: str = ""
    room: str = ""
    details: dict[str, str] = {}


def parse_goal(goal: str) -> ScienceGoal | None:
    """The goal of a task; None if the stand-in does not know its kind."""
    if found := _FIND.search(goal):
        places = {"plant": ("greenhouse", "outside"), "non-living thing": ("kitchen", "living room")}
        return ScienceGoal(found[1], places.get(found[1], ("outside", "greenhouse")), found[2], found[3])
    if (where := _WHERE_ANIMALS.search(goal)) and (spans := _LIFE_SPANS.findall(goal)):
        return ScienceGoal("animals", (where[1],), details={"spans": repr([span.lower() for span in spans])})
    if found := _MEASURE.search(goal):
        thing, place, limit, above, below, room = found.groups()
        details = {"thing": thing, "place": place, "limit": limit, "above": above, "below": below}
        return ScienceGoal("thermometer", ("kitchen",), "", room, details)
    if found := _PAINT.search(goal):
        first, second = _MIXED_OF[found[1]]
        return ScienceGoal("paint", ("art studio",), details={"colour": found[1], "first": first, "second": second})
    return None


# ------------------------------------------------------------------ the plan, step by step

_HEAD = Template("""\
def solution(agent, start_from=1):
    # General plan: $outline
$constants    def fitting(things):
        # $rule_about
        return $rule

    def seek(places):
        # Goes from place to place until something fits. Returns what fits there.
        for place in places:
            agent.goto(place)
            fits = fitting(agent.rooms.get(place, {}).get('things', {}))
            if fits:
                return fits
        return []

    if start_from <= 1:
        print('[Step 1] I look for it: $thing')
        places = $places
        found = seek(places)
        assert found, f'Error in [Step 1]: no $thing was seen in {places}. {agent.report()}'
""")

_ANIMALS = (
    "Animals live outside, where the ground is; tools, pots and boxes are there, too.",
    "[name for name in things if 'ground' in things and name.split()[-1] not in inanimate]",
)
_INANIMATE = "    inanimate = ['axe', 'pit', 'fountain', 'ground', 'shovel', 'wood', 'box', *'0123456789']\n"
_RULES = {
    "animal": _ANIMALS,
    "animals": _ANIMALS,
    "living thing": _ANIMALS,
    "plant": (
        "A plant stands in a pot: both names.",
        "[(pot, plant) for pot in things for plant in things[pot] if 'pot' in pot and plant not in ['soil', 'water']]",
    ),
    "non-living thing": (
        "Any small thing that does not live.",
        "[name for name in ['stopwatch', 'thermometer', 'lighter', 'painting', 'chair'] if name in things]",
    ),
    "thermometer": ("The tool alone.", "[name for name in things if name == 'thermometer']"),
    "paint": (
        "What is empty can be mixed in.",
        "[name for name in ['jug', 'bowl', 'glass cup'] for thing in things if name in [thing, *things[thing]]]",
    ),
}
"""By thing, what a helper of the plan says of it and its expression."""

_FOCUS_AND_TAKE = Template("""\
    if start_from <= 2:
        print('[Step 2] I focus on it, and then take it')
        carrier, thing = $names
        answer = agent.focus(thing)
        assert 'You focus' in answer, f'Error in [Step 2]: I cannot focus on {thing}. {agent.report()}'
        answer = agent.take(carrier)
        assert 'inventory' in answer, f'Error in [Step 2]: I cannot take {carrier}. {agent.report()}'
    if start_from <= 3:
        print('[Step 3] I put it into the $target in the $room; it may have grown up meanwhile')
        agent.goto('$room')
        words = set(carrier.split()) - {'egg', 'baby', 'adult', 'juvenile', 'hatchling'}
        carried = [name for name in agent.inventory() if words & set(name.split())]
        assert carried, f'Error in [Step 3]: {carrier} is lost. {agent.report()}'
        answer = agent.move(carried[0], '$target')
        assert 'You move' in answer, f'Error in [Step 3]: {carried[0]} is not in the $target. {agent.report()}'
""")

_FOCUS_BY_LIFE_SPAN = Template("""\
    if start_from <= 2:
        print('[Step 2] I focus on the animals in question')
        for span in $spans:
            question = f'Which of the animals {found} has the {span} life span?'
            name = literal_eval(ask_llm(question + ' Answer with its name as a Python string.'))
            answer = agent.focus(name)
            assert 'You focus' in answer, f'Error in [Step 2]: I cannot focus on {name}. {agent.report()}'
""")

_MEASURE_AND_PLACE = Template("""\
    if start_from <= 2:
        print('[Step 2] I take the thermometer, and focus on it')
        agent.take('thermometer')
        answer = agent.focus('thermometer')
        assert 'You focus' in answer, f'Error in [Step 2]: I cannot focus on it. {agent.report()}'
    if start_from <= 3:
        print('[Step 3] I take the $thing, focus on it, and measure it')
        agent.goto('$place')
        agent.take('$thing')
        agent.focus('$thing')
        answer = agent.use('thermometer', '$thing')
        read = re.findall(r'temperature of (-?\\d+) degrees', answer)
        assert read, f'Error in [Step 3]: nothing was measured. {agent.report()}'
    if start_from <= 4:
        print('[Step 4] I put it into the box for its temperature')
        agent.goto('$room')
        box = '$above' if float(read[0]) > $limit else '$below'
        answer = agent.move('$thing', box)
        assert 'You move' in answer, f'Error in [Step 4]: it is not in the {box}. {agent.report()}'
""")

_MIX_AND_FOCUS = Template("""\
    if start_from <= 2:
        print('[Step 2] I pour both paints together, and mix them')
        for colour in ['$first', '$second']:
            answer = agent.pour(f'{colour} paint', found[0])
            if agent.choices:  # any cup of it will do
                answer = agent.choose(0)
            assert 'You pour' in answer, f'Error in [Step 2]: there is no {colour} paint. {agent.report()}'
        answer = agent.mix(found[0])
        assert '$colour paint' in answer, f'Error in [Step 2]: it is not $colour. {agent.report()}'
    if start_from <= 3:
        print('[Step 3] I focus on it')
        answer = agent.focus('$colour paint')
        assert 'You focus' in answer, f'Error in [Step 3]: I cannot focus on it. {agent.report()}'
""")


def write_plan(goal: ScienceGoal) -> str:
    """A plan that is correct according to the stand-in's knowledge."""
    about, rule = _RULES[goal.thing]
    head = _HEAD.substitute(
        outline=_outline(goal),
        constants=_INANIMATE if "inanimate" in rule else "",
        rule_about=about,
        rule=rule,
        thing=goal.thing,
        places=repr(list(goal.places)),
    )
    return head + "".join(_write_steps(goal))


def _outline(goal: ScienceGoal) -> str:
    last = f", put it into the {goal.target} in the {goal.room}" if goal.target else ""
    return f"seek {goal.thing} in the {goal.places[0]}, do what the task says with it{last}."


def _write_steps(goal: ScienceGoal) -> Iterator[str]:
    match goal.thing:
        case "animals":
            yield _FOCUS_BY_LIFE_SPAN.substitute(goal.details)
        case "thermometer":
            yield _MEASURE_AND_PLACE.substitute(goal.details, room=goal.room)
        case "paint":
            yield _MIX_AND_FOCUS.substitute(goal.details)
        case _:
            names = "found[0]" if goal.thing == "plant" else "found[0], found[0]"
            yield _FOCUS_AND_TAKE.substitute(names=names, target=goal.target, room=goal.room)


def answer_question(question: str) -> str | None:
    """The Python literal that names the animal in question; None for any other question."""
    found = re.search(r"Which of the animals (\[[^\[\]]*\]) has the (longest|shortest) life span", question)
    names = re.findall(r"'([^']+)'", found[1]) if found else []
    if found is None or not names:
        return None
    return repr((min if found[2] == "longest" else max)(names, key=_life_span_rank))


def _life_span_rank(name: str) -> float:
    """The place of an animal among those whose life spans are known; unknown ones stand in the middle."""
    known = (rank for rank, animal in enumerate(_LIFE_SPAN_ORDER) if animal in name.split())
    return next(known, len(_LIFE_SPAN_ORDER) / 2)


# ------------------------------------------------------------------ mistakes, and mending plans

_METHODS = (
    "activate choose close connect deactivate disconnect drop dunk eat examine find flush focus goto inventory look "
    "look_in mix move objects open pour read report take teleport use wait"
)
_ATTRIBUTES = "goal room rooms things holding choices actions_left score"

AGENT_VOCABULARY = AgentVocabulary(
    frozenset(f"{_METHODS} {_ATTRIBUTES}".split()),
    {
        "goto": "navigate travel move_to_room enter",
        "take": "grab get pick collect",
        "focus": "concentrate attend focus_upon",
        "move": "place put_in put_into",
        "pour": "pour_into empty transfer",
        "use": "apply measure",
    },
)

_ROOMS = ("hallway", "living room", "bedroom", "workshop", "art studio", "kitchen", "outside", "greenhouse")
_PLACES = r"(?<=^        places = )\[.*\]$"
_LAST_WALK = re.compile(r"^        agent\.goto\('[a-z ]+'\)\n(?=(?:        (?:words|box) = ))", re.MULTILINE)
_LAST_ACT = r"^        (?=words = |box = )"


def _seek_elsewhere(plan: str, which: float) -> str:
    """Seek only in a room where it is unlikely."""
    right = re.findall(r"'([a-z ]+)'", "".join(re.findall(_PLACES, plan, re.MULTILINE)))
    others = [room for room in _ROOMS[:4] if room not in right]
    return re.sub(_PLACES, f"['{others[int(which * len(others))]}']", plan, count=1, flags=re.MULTILINE)


def _omit_last_walk(plan: str, which: float) -> str:
    """Leave out the walk to the box."""
    return _LAST_WALK.sub("", plan, count=1)


MISTAKE_INSERTERS: dict[str, MistakeInserter] = {
    "wrong_guess": _seek_elsewhere,
    "forgotten_walk": _omit_last_walk,
    "unknown_method": replace_call(("goto", "travel"), ("focus", "concentrate")),
    "syntax_error": replace_text(
        ("def fitting(things):", "def fitting(things)"),
        ("found = seek(places)\n", "found = seek(places\n"),
        ("for place in places:", "for place in places"),
    ),
}
"""In the order of insertion."""


def refine_plan(source: str, feedback: str, goal: ScienceGoal) -> str:
    """The plan with its failing step mended; a new plan if the feedback shows no fix."""
    mended = first_fix(source, feedback, AGENT_VOCABULARY, (fix(source, feedback, goal) for fix in _FIXES))
    return write_plan(goal) if mended is None else mended


def _seek_in_other_places(source: str, feedback: str, goal: ScienceGoal) -> str | None:
    """It was in none of the places: go to the likely ones, then to all the others."""
    found = re.search(r"was seen in \[([^\[\]]*)\]", feedback)
    if found is None:
        return None
    tried = re.findall(r"'([a-z ]+)'", found[1])
    left = [room for room in dict.fromkeys((*goal.places, *_ROOMS)) if room not in tried]
    return edit_step(source, failed_step(feedback), _PLACES, lambda _: repr(left)) if left else None


def _walk_to_the_box(source: str, feedback: str, goal: ScienceGoal) -> str | None:
    """There was no box: walk to its room first."""
    if "is not in the" not in feedback or not goal.room or _LAST_WALK.search(source):
        return None
    return edit_step(source, failed_step(feedback), _LAST_ACT, lambda _: f"        agent.goto({goal.room!r})\n        ")


_FIXES: tuple[Callable[[str, str, ScienceGoal], str | None], ...] = (_seek_in_other_places, _walk_to_the_box)
