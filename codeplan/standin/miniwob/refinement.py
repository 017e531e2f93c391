"""Inserts mistakes into MiniWoB++ plans, and mends plans according to the feedback."""

from __future__ import annotations

import re
from ast import literal_eval

from codeplan.standin.miniwob.feedback import remaining_numbers
from codeplan.standin.miniwob.planning import WebTaskSolution, write_hasty_plan, write_plan
from codeplan.standin.mistakes import MistakeInserter
from codeplan.standin.plan_edits import (
    AgentVocabulary,
    edit_step,
    failed_step,
    fix_unknown_method,
    has_diagnostics,
    repair_plan,
    split_steps,
)

AGENT_VOCABULARY = AgentVocabulary(
    frozenset(["type", "press_key", "click_option", "click_xpath", "move_mouse_on", "find", "clear", "wait", "scroll"])
    | {"click_point", "drag", "drag_by", "draw", "report", "description", "current_state"},
    {
        "type": "write enter type_text input fill",
        "press_key": "press hit key",
        "click_option": "choose select select_option",
        "click_xpath": "click click_on click_element tap",
        "move_mouse_on": "hover move_to hover_over",
    },
)


def mistake_inserters(solution: WebTaskSolution) -> dict[str, MistakeInserter]:
    """The inserters for a plan with this solution, by mistake."""
    return {
        "wrong_guess": lambda plan, which: write_hasty_plan(solution),
        "unknown_method": _insert_unknown_method,
        "syntax_error": _insert_syntax_error,
    }


def _insert_unknown_method(plan: str, which: float) -> str:
    pairs = [("click_xpath", "click"), ("type", "write"), ("press_key", "press"), ("click_option", "choose")]
    there = [(right, wrong) for right, wrong in pairs if f"agent.{right}(" in plan]
    right, wrong = there[int(which * len(there))]
    return plan.replace(f"agent.{right}(", f"agent.{wrong}(")


def _insert_syntax_error(plan: str, which: float) -> str:
    ends = r"^ +state = agent\.\w+\(.*(\))$|^    if start_from <= \d+(:)$"
    lines = list(re.finditer(ends, plan, re.MULTILINE))
    end = lines[int(which * len(lines))].end()
    return plan[: end - 1] + plan[end:]


def refine_plan(source: str, feedback: str, solution: WebTaskSolution) -> str:
    """The plan with its failing step mended according to the page's answer, or done carefully; otherwise a new plan."""
    if has_diagnostics(feedback):
        return repair_plan(source, feedback, AGENT_VOCABULARY)
    mended = fix_unknown_method(source, feedback, AGENT_VOCABULARY) or _use_next_guess(source, feedback)
    return mended or _use_careful_step(source, failed_step(feedback), solution)


def _use_next_guess(source: str, feedback: str) -> str | None:
    """Continue with the numbers that the page's answer to a guess leaves."""
    tried = re.search(r"^        possible = (\[[\d, ]*\])$", source, re.MULTILINE)
    if not tried:
        return None
    left = remaining_numbers(literal_eval(tried[1]), feedback)
    return edit_step(source, 1, r"^        possible = .*$", lambda _: f"        possible = {left}") if left else None


def _use_careful_step(source: str, step: int | None, job: WebTaskSolution) -> str:
    """Take the failed step from the correct plan, if both plans have the same steps; otherwise all of it."""
    sound, now = split_steps(write_plan(job)), split_steps(source)
    if step is None or sound.keys() != now.keys() or sound[step] == now[step]:
        return write_plan(job)
    return "".join({**now, step: sound[step]}.values())
