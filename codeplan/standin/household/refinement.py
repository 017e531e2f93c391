"""Mends household plans according to the feedback."""

from __future__ import annotations

import re
from collections.abc import Callable

from codeplan.standin.household.places import sort_by_likelihood
from codeplan.standin.household.planning import ParsedHouseholdGoal, write_plan
from codeplan.standin.plan_edits import AgentVocabulary, edit_step, failed_step, first_fix, first_match, split_steps
from codeplan.types import Value

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
