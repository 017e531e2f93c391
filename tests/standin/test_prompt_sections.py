"""The purpose of a prompt that came without one."""

import pytest
from support.standin_prompts import FIRST_CHECK, LANGUAGE, REPORT, SESSION

from codeplan.prompts.templates import Prompts
from codeplan.standin.prompt_reading import infer_purpose

TASK = {"observation": "a room", "goal": "find a mug"}
FORMS = {"forms": ("go to RECEPTACLE",)}
ACTS = {**FORMS, "tools": False}
CODE = {"api": "", "advice": None, "samples": (), "skills": (), "notes": ("be quick",), **SESSION, **LANGUAGE}
EPISODE = {**TASK, "plan": "1. Look.", "transcript": "> look\nA mug.", "outcome": "The task was done."}
SHOP = {"page": "A page.", "goal": "buy a mug"}
EMPTY = {"samples": (), "notes": ()}
PLANNERS = ("adapt", "plan_and_execute")
REPLY = {"sample": None, "notes": (), "reply": "", "problem": ""}


@pytest.mark.parametrize(
    ("template", "values", "purpose"),
    [
        ("adaplanner/plan", {**TASK, **CODE, "left": ("actions: 3",)}, "plan"),
        ("adaplanner/check", {"source": "x", "errors": "", **FIRST_CHECK}, "check"),
        ("adaplanner/refine", {**TASK, **CODE, **REPORT, "source": "x", "feedback": "it failed"}, "refine"),
        ("adaplanner/resume", {"previous": "x", "revised": "y"}, "resume"),
        ("adaplanner/ask", {"question": "Which goal has the task?"}, "ask"),
        ("adaplanner/bind", {**TASK, "earlier": "find a cup", "parameters": (), "acts": False}, "bind"),
        ("adapt/plan", {**TASK, **ACTS, **REPLY}, "decompose"),
        ("plan_and_execute/plan", {**TASK, **ACTS, **REPLY, "notes": ("be quick",)}, "decompose"),
        ("text_planner/plan", {**TASK, **ACTS, **EMPTY}, "plan_text"),
        ("text_planner/refine", {**TASK, **ACTS, **EMPTY, "plan": "1. Look.", "transcript": ""}, "refine_text"),
        *(
            (f"{method}/webshop_plan", {**SHOP, "failed": (), "reply": "", "problem": ""}, "decompose")
            for method in PLANNERS
        ),
        *((f"adapt/webshop_{name}", {"page": "A page.", "criteria": "green"}, "act") for name in ("match", "detail")),
        *((f"react/{name}", {**TASK, **FORMS, **EMPTY, "transcript": ""}, "act") for name in ("act", "think", "take")),
        ("react/formalise", {**FORMS, "sample": None, "seen": "", "line": "I look."}, "formalise"),
        ("reflexion/reflect", {**TASK, "transcript": ""}, "reflect"),
        ("search/rate", {**TASK, "plan": "x", "transcript": "", "done": 1, "steps": 2}, "rate"),
        ("autoplan/summary", EPISODE, "reflect"),
        ("autoplan/flaws", {**EPISODE, "summary": ""}, "reflect"),
        ("autoplan/revision", {**EPISODE, "summary": "", "flaws": ""}, "reflect"),
        (
            "autoplan/update",
            {**ACTS, "plan": "", "reviews": [dict.fromkeys(("goal", "outcome", "summary", "flaws", "revision"), "x")]},
            "generalise",
        ),
    ],
)
def test_the_sections_of_every_prompt_show_its_purpose(template, values, purpose):
    system, user = Prompts.cached().messages(template, **values)
    assert infer_purpose(system["content"], user["content"]) == purpose
