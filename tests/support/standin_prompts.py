"""Prompts about a household task for the stand-in, and its answers."""

import re

from codeplan.agent_interface import agent_api, describe_api
from codeplan.envs.household.agent import HouseholdAgent
from codeplan.planning.turns import Turn
from codeplan.prompts.templates import Prompts
from codeplan.runner.episodes import run
from codeplan.sandbox import Sandbox
from codeplan.standin.household import parse_goal, write_plan
from codeplan.standin.model import ScriptedModel
from codeplan.standin.plan_edits import apply_changes

PROMPTS = Prompts.cached()
PLAIN = {"notes": (), "skills": (), "samples": (), "advice": None, "asks": True, "replans": True, "tools": False}
PLAIN |= {"once": (), "brief": False, "at_entry": False, "asks_user": False}
PLAIN |= {"turns": (), "new_tools": (), "left_variables": (), "history_mark": "", "recalls": False}
REPORT = {
    **{
        "fixes": (),
        "left": (),
        "attempts": (),
        "log": "",
        "printed": "",
        "now": "",
        "variables": "",
        "failed_line": "",
        "done": (),
    },
    **{
        "refused": False,
        "finished": False,
        "replanned": False,
        "unfinished": False,
        "step": None,
        "next_start": "",
        "mark": "",
    },
}
"""What a prompt for a refinement says of a run beside the feedback: nothing."""
SESSION = {name: PLAIN[name] for name in ("turns", "new_tools", "left_variables", "history_mark", "recalls")}
LANGUAGE = {name: PLAIN[name] for name in ("asks", "replans", "tools", "once", "brief", "at_entry", "asks_user")}
FIRST_CHECK = LANGUAGE | {
    "ran": False,
    "log": "",
    "printed": "",
    "variables": "",
    "done": (),
    "next_start": "",
    "mark": "",
}
"""What a prompt for a repair says beside plan and errors if no plan ran before."""
ROOM = (
    "You are in the middle of a room. Looking quickly around you, you see a cabinet 2, a cabinet 1, a countertop 1, "
    "a desk 1, a diningtable 1, a drawer 1, a fridge 1, a microwave 1, a safe 1, and a sinkbasin 1.\n\n"
    "Your task is to: "
)
CLEAN = "put a clean lettuce in diningtable."
PARSED = parse_goal(CLEAN, ROOM + CLEAN)
CORRECT = write_plan(PARSED)


def ask(name, model=None, **values):
    """The model's answer to a prompt, without its fence."""
    answering = model or ScriptedModel(mistakes="none")
    text = answering.complete(PROMPTS.messages(name, **values), purpose=name.split("/")[1]).text
    fenced = re.fullmatch(r"```python\n(.*)\n```", text, re.DOTALL)
    return fenced[1] + "\n" if fenced else text


def ask_for_plan(goal=CLEAN, model=None, room=ROOM):
    api = describe_api(agent_api(HouseholdAgent))
    return ask("adaplanner/plan", model, api=api, left=(), observation=room + goal, goal=goal, **PLAIN)


def ask_to_refine(source, feedback, goal=CLEAN):
    about = {"api": "", "observation": ROOM + goal, "goal": goal, **PLAIN, **REPORT}
    return apply_changes(source, ask("adaplanner/refine", **about, source=source, feedback=feedback))


def errors_of(source, agent):
    """What the check says of a plan; empty for one that it accepts."""
    return "\n".join(map(str, getattr(Sandbox().check(source, agent_api(agent)), "diagnostics", ())))


def played(env, task, mistakes, seed=0, **settings):
    """The result of the stand-in's episode, and its events."""
    events = []
    return run(env, task, model=ScriptedModel(seed, mistakes), on_event=events.append, **settings), events


def next_line(forms, observation, goal, turns=(), notes=()):
    """What the stand-in says next as an executor, after these turns."""
    values = {"forms": forms, "samples": (), "observation": observation, "goal": goal, "notes": notes}
    messages = PROMPTS.messages("react/act", **values, transcript="\n".join(str(Turn(*t)) for t in turns))
    return ScriptedModel().complete(messages, purpose="act").text
