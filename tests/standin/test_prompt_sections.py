"""The purpose of a prompt that came without one."""

import pytest
from support.standin_prompts import REPORT

from codeplan.prompts.templates import Prompts
from codeplan.standin.prompt_reading import infer_purpose

TASK = {"observation": "a room", "goal": "find a mug"}
FORMS = {"forms": ("go to RECEPTACLE",)}
ACTS = {**FORMS, "tools": False}
LANGUAGE = {"asks": True, "replans": True, "tools": False}
CODE = {"api": "", "advice": None, "samples": (), "skills": (), "notes": ("be quick",), **LANGUAGE}
EPISODE = {**TASK, "plan": "1. Look.", "transcript": "> look\nA mug.", "outcome": "The task was done."}
SHOP = {"page": "A page.", "goal": "buy a mug"}
REPLY = {"sample": None, "notes": (), "reply": "", "problem": ""}


@pytest.mark.parametrize(
    ("template", "values", "purpose"),
    [
        ("adaplanner/plan", {**TASK, **CODE, "left": ("actions: 3",)}, "plan"),
        ("adaplanner/check", {"source": "x", "errors": "", **LANGUAGE}, "check"),
        ("adaplanner/refine", {**TASK, **CODE, **REPORT, "source": "x", "feedback": "it failed"}, "refine"),
        ("adaplanner/resume", {"previous": "x", "revised": "y"}, "resume"),
        ("adaplanner/ask", {"question": "Which goal has the task?"}, "ask"),
        ("adaplanner/bind", {**TASK, "earlier": "find a cup", "parameters": ()}, "bind"),
        ("adapt/plan", {**TASK, **ACTS, **REPLY}, "decompose"),
        ("plan_and_execute/plan", {**TASK, **ACTS, **REPLY, "notes": ("be quick",)}, "decompose"),
        ("text_planner/plan", {**TASK, **ACTS, "samples": (), "notes": ()}, "plan_text"),
        (
            "text_planner/refine",
            {**TASK, **ACTS, "samples": (), "notes": (), "plan": "1. Look.", "transcript": ""},
            "refine_text",
        ),
        ("adapt/webshop_plan", {**SHOP, "failed": (), "reply": "", "problem": ""}, "decompose"),
        ("plan_and_execute/webshop_plan", {**SHOP, "failed": (), "reply": "", "problem": ""}, "decompose"),
        ("adapt/webshop_match", {"page": "A page.", "criteria": "green"}, "act"),
        ("adapt/webshop_detail", {"page": "A page.", "criteria": "green"}, "act"),
        ("react/act", {**TASK, **FORMS, "samples": (), "notes": (), "transcript": ""}, "act"),
        ("react/think", {**TASK, **FORMS, "samples": (), "notes": (), "transcript": ""}, "act"),
        ("react/take", {**TASK, **FORMS, "samples": (), "notes": (), "transcript": ""}, "act"),
        ("react/formalise", {**FORMS, "sample": None, "seen": "", "line": "I look."}, "formalise"),
        ("reflexion/reflect", {**TASK, "transcript": ""}, "reflect"),
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
    system, user = Prompts().messages(template, **values)
    assert infer_purpose(system["content"], user["content"]) == purpose
