"""How exemplars in a household prompt change the stand-in's plan.

It follows a skill exactly, right or wrong, and only sets the parameters at its head. Without an exemplar of the task's
kind it may leave out the part that defines the kind: the treatment, the lamp, the second object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from codeplan.standin.household import APPLIANCES, ParsedHouseholdGoal, parse_goal, places_to_search, write_plan
from codeplan.standin.mistakes import hashed_fraction
from codeplan.standin.plan_edits import remove_step, split_steps

_SKILL = re.compile(r'<skill name="[^"\n]*">\n(.*?)\n</skill>', re.DOTALL)
_WORKED_EXAMPLE = re.compile(r"A worked example .*?```python\n(.*?)```", re.DOTALL)
_HEAD = re.compile(
    r"^ *# Parameters, with their values for the task: (?P<goal>.*)\n(?P<lines>(?:.*\n)*?) *# End of the parameters\.$",
    re.MULTILINE,
)
_PARAMETER = re.compile(r"^(?P<margin> *)(?P<name>\w+) = (?P<value>[\"\[].*?)(?:  \((?P<about>.*)\))?$", re.MULTILINE)

_KIND_CALLS = {"clean": "agent.clean(", "heat": "agent.heat(", "cool": "agent.cool(", "examine": "agent.turn_on("}
"""The call that only plans for this kind of task contain."""


def draft_plan(system: str, goal: str, observation: str, own_plan: str, gaps: float, seed: int) -> str:
    """The first plan: the prompt's first skill, or else the stand-in's own plan, perhaps with a gap."""
    if parse_goal(goal, observation) is None:
        return own_plan
    return _follow_skill(system, goal, observation) or _with_gap(system, goal, observation, own_plan, gaps, seed)


def refine_plan(system: str, goal: str, observation: str, own_plan: str, gaps: float, seed: int) -> str:
    """A better plan. Where the stand-in would start over, it follows the prompt's skill instead, if there is one."""
    parsed = parse_goal(goal, observation)
    if parsed and own_plan == write_plan(parsed, thorough=True):
        return draft_plan(system, goal, observation, own_plan, gaps, seed)
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
    head = _HEAD.search(plan)
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
