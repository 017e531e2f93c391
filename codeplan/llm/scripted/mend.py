"""How the scripted stand-in mends a plan: from the words of the check, or of the feedback, and from nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable

from codeplan.llm.scripted.household import Chore, write_plan
from codeplan.llm.scripted.places import by_likelihood
from codeplan.llm.scripted.syntax import repair_line, repair_syntax
from codeplan.types import Value

# ------------------------------------------------------------------ what the check found

_DIAGNOSTIC = re.compile(r"^line (?P<line>\d+), column \d+: .+ \[(?P<rule>[\w-]+)\]$", re.MULTILINE)
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
_MEANT_BY = {wrong: right for right, wrongs in _MEANT.items() for wrong in wrongs.split()}


def repair(source: str, errors: str) -> str:
    """The plan without the errors that the check lists; where it lists none, without those of syntax that show.

    The plan comes back as it was where the stand-in knows no remedy.
    """
    found = list(_DIAGNOSTIC.finditer(errors))
    if not found:
        return repair_syntax(source)
    for diagnostic in found:
        line = int(diagnostic["line"])
        source = repair_line(source, line) if diagnostic["rule"] == "syntax" else _repair_method(source, line)
    return source


def _repair_method(source: str, line: int) -> str:
    lines = source.split("\n")
    here = lines[line - 1] if 0 < line <= len(lines) else ""
    unknown = [n for n in re.findall(r"\bagent\.(\w+)", here) if n not in _METHODS | _ATTRIBUTES]
    return _replace_method(source, unknown[0]) if unknown else source


def _replace_method(source: str, wrong: str) -> str:
    """The plan with the method that was meant. One that only looks has no counterpart, so its statement goes."""
    if right := _MEANT_BY.get(wrong):
        return re.sub(rf"\bagent\.{wrong}\b", f"agent.{right}", source)
    return re.sub(rf"^ *(?:\w+ = )?agent\.{wrong}\(.*\)\n", "", source, flags=re.MULTILINE)


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

    def first(pattern: str) -> str:
        found = re.search(pattern, feedback)
        return found[1] if found else ""

    step = first(r"\[Step (\d+)\]")
    return Report(
        feedback,
        int(step) if step else None,
        first(r"I am (?:at|in|before) (?:the )?([\w ]+?)[,.]"),
        first(r"holding (?:an? )?([\w ]+?)[.,]").replace("nothing", ""),
        first(r"[Ll]ast action: ['\"](.+?)['\"];"),
        first(r"answered: ['\"](.+?)['\"]"),
    )


def refine(source: str, feedback: str, chore: Chore) -> str:
    """A better plan: the failing step mended where the feedback tells how, and otherwise a new, thorough plan."""
    report = read_feedback(feedback)
    for mend in _REMEDIES:
        mended = mend(source, report, chore)
        if mended is not None and mended != source:
            return mended
    return write_plan(chore, thorough=True)


def _mend_refused_plan(source: str, report: Report, chore: Chore) -> str | None:
    return repair(source, report.text) if _DIAGNOSTIC.search(report.text) else None


def _mend_unknown_method(source: str, report: Report, chore: Chore) -> str | None:
    for wrong in _MEANT_BY:
        if re.search(rf"\b{wrong}\b", report.text) and f"agent.{wrong}(" in source and "rror" in report.text:
            return _replace_method(source, wrong)
    return None


def _mend_guess(source: str, report: Report, chore: Chore) -> str | None:
    """Nothing was found in the places that were searched: search the others."""
    found = re.search(r"no (?:second |other )?(\w+) found in \[(.*?)\]", report.text)
    if not found:
        return None
    searched = re.findall(r"\w+ \d+", found[2])
    rest = by_likelihood(found[1], [r for r in chore.room if r not in searched])
    return _edit_step(source, report.step, r"(?<=^        places = ).*$", lambda _: str(rest)) if rest else None


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

    return _edit_step(source, report.step, r"^( *)agent\.take\((\w+), (\w+)\)$", put_down_first)


def _mend_closed_target(source: str, report: Report, chore: Chore) -> str | None:
    """Nothing can be put into what is closed: open it first."""
    if not (report.refused and re.match(r"put |move ", report.action)):
        return None
    call = r"^( *)((?:\w+ = )?agent\.put\(\w+, ('[^']+'|\w+)\))$"
    return _edit_step(source, report.step, call, lambda m: f"{m[1]}agent.open_receptacle({m[3]})\n{m[0]}")


_REMEDIES: tuple[Callable[[str, Report, Chore], str | None], ...] = (
    _mend_refused_plan,
    _mend_unknown_method,
    _mend_guess,
    _mend_walk,
    _mend_full_hands,
    _mend_closed_target,
)


# ------------------------------------------------------------------ editing a plan's text

_USE = re.compile(
    r"^( *)(?:\w+ = )?agent\.(?:(?:clean|heat|cool|put)\(\w+, ('[^']+'|\w+)|turn_on\(\w+)\)", re.MULTILINE
)
_STEP = re.compile(r"^    if start_from <= (\d+):", re.MULTILINE)


def parts(source: str) -> dict[int, str]:
    """The plan's text cut before each step, by the step's number; what stands before the first step is number 0."""
    starts = [(0, 0), *((int(m[1]), m.start()) for m in _STEP.finditer(source))]
    ends = [start for _, start in starts[1:]] + [len(source)]
    return {number: source[start:end] for (number, start), end in zip(starts, ends, strict=True)}


def _edit_step(source: str, step: int | None, pattern: str, by: Callable[[re.Match[str]], str]) -> str | None:
    """The plan with the first match in this step replaced; None where there is no such step."""
    cut = parts(source)
    if step not in cut:
        return None
    cut[step] = re.sub(pattern, by, cut[step], count=1, flags=re.MULTILINE)
    return "".join(cut.values())


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
