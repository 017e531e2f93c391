"""How the scripted stand-in mends a household plan: by the words of the check, or of the feedback, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable

from codeplan.standin.edits import Vocabulary, edit_step, failed_step, first_match, first_mended, parts, repair_plan
from codeplan.standin.household import Chore, write_plan
from codeplan.standin.places import by_likelihood
from codeplan.types import Value

_METHODS = {"goto", "take", "put", "open_receptacle", "close_receptacle", "clean", "heat", "cool", "turn_on", "report"}
_ATTRIBUTES = {"location", "holding", "receptacles"}
_MEANT = {
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
KNOWN = Vocabulary(frozenset(_METHODS | _ATTRIBUTES), _MEANT)
"""The agent of the household, as its API shows it, and what its methods may wrongly be called."""


def repair(source: str, errors: str) -> str:
    """A household plan without the errors that the check lists; see ``edits.repair_plan``."""
    return repair_plan(source, errors, KNOWN)


# ------------------------------------------------------------------ what happened in the world


class Report(Value, frozen=True):
    """What the feedback says; empty, or None for ``step``, where it is silent."""

    text: str
    step: int | None
    location: str
    holding: str
    action: str
    answer: str

    @property
    def refused(self) -> bool:
        """Whether the last action was one that nothing came of."""
        return self.answer.startswith("Nothing happens")


def read_feedback(feedback: str) -> Report:
    """The feedback's facts."""

    return Report(
        feedback,
        failed_step(feedback),
        first_match(r"I am (?:at|in|before) (?:the )?([\w ]+?)[,.]", feedback),
        first_match(r"holding (?:an? )?([\w ]+?)[.,]", feedback).replace("nothing", ""),
        first_match(r"[Ll]ast action: ['\"](.+?)['\"];", feedback),
        first_match(r"answered: ['\"](.+?)['\"]", feedback),
    )


def refine(source: str, feedback: str, chore: Chore) -> str:
    """A better plan: the failing step mended where the feedback tells how, and otherwise a new, thorough plan."""
    report = read_feedback(feedback)
    mended = first_mended(source, feedback, KNOWN, (mend(source, report, chore) for mend in _REMEDIES))
    return write_plan(chore, thorough=True) if mended is None else mended


def _mend_guess(source: str, report: Report, chore: Chore) -> str | None:
    """Nothing was found in the places that were searched: search the others."""
    found = re.search(r"no (?:second |other )?(\w+) found in \[(.*?)\]", report.text)
    if not found:
        return None
    searched = re.findall(r"\w+ \d+", found[2])
    rest = by_likelihood(found[1], [r for r in chore.room if r not in searched])
    return edit_step(source, report.step, r"(?<=^        places = ).*$", lambda _: str(rest)) if rest else None


def _mend_walk(source: str, report: Report, chore: Chore) -> str | None:
    """Something was used from afar: go there first, in this step and in every later one that uses a place unvisited."""
    place = re.match(r"(?:clean|heat|cool|put|move) \w+ \d+ (?:with|in/on|to) (\w+ \d+)$", report.action)
    afar = place[1] != report.location if place else report.action.startswith("use ")
    return _add_walks(source, report.step) if report.refused and afar else None


def _mend_full_hands(source: str, report: Report, chore: Chore) -> str | None:
    """Something else is in the hand: put it down, wherever it may lie, before taking."""
    if not (report.refused and report.action.startswith("take ") and report.holding):
        return None
    spots = by_likelihood(report.holding.split(" ")[0], chore.room)[:4]

    def put_down_first(call: re.Match[str]) -> str:
        indent = call[1]
        return (
            f"{indent}for spot in {spots}:\n{indent}    if agent.holding:\n{indent}        {_walk(source)}(spot)\n"
            f"{indent}        agent.put(agent.holding, spot)\n{_back(call, source)}{call[0]}"
        )

    return edit_step(source, report.step, r"^( *)agent\.take\((\w+), (\w+)\)$", put_down_first)


def _mend_closed_target(source: str, report: Report, chore: Chore) -> str | None:
    """Nothing can be put into what is closed: open it first."""
    if not (report.refused and re.match(r"put |move ", report.action)):
        return None
    call = r"^( *)((?:\w+ = )?agent\.put\(\w+, ('[^']+'|\w+)\))$"
    return edit_step(source, report.step, call, lambda m: f"{m[1]}agent.open_receptacle({m[3]})\n{m[0]}")


_REMEDIES: tuple[Callable[[str, Report, Chore], str | None], ...] = (
    _mend_guess,
    _mend_walk,
    _mend_full_hands,
    _mend_closed_target,
)


# ------------------------------------------------------------------ editing a plan's text

_USE = re.compile(
    r"^( *)(?:\w+ = )?agent\.(?:(?:clean|heat|cool|put)\(\w+, ('[^']+'|\w+)|turn_on\(\w+)\)", re.MULTILINE
)


def _add_walks(source: str, step: int | None) -> str | None:
    if step is None:
        return None
    walk = _walk(source)
    return "".join(_walk_before_use(part, walk) if number >= step else part for number, part in parts(source).items())


def _walk_before_use(part: str, walk: str) -> str:
    """The step with the way to the place it uses, where it does not go there yet."""
    used = _USE.search(part)
    if not used:
        return part
    place = used[2] or "spot"
    if re.search(rf"(?:visit|approach|goto)\({re.escape(place)}\)", part[: used.start()]):
        return part
    return f"{part[: used.start()]}{used[1]}{walk}({place})\n{part[used.start() :]}"


def _walk(source: str) -> str:
    """What the plan goes to a place with: its own helper where it has one."""
    own = re.search(r"def (visit|approach)\(place\):", source)
    return own[1] if own else "agent.goto"


def _back(call: re.Match[str], source: str) -> str:
    return f"{call[1]}{_walk(source)}({call[3]})\n"
