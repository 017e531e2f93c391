"""The prompts of every environment and method, as the real code renders them for one task each.

Those for a refinement follow on a real run, or on a refused plan: ``tests/prompts/replies`` has the replies before them.

``make golden`` (``python tests/support/golden_prompts.py``) rewrites the files in ``tests/prompts/golden``. Read what
changed as a model would.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal

from support import alfworld_files
from support.order_files import order_environment

import codeplan
from codeplan import envs
from codeplan.errors import CodeplanError, ModelError
from codeplan.tools.return_types import PythonType
from codeplan.types import Completion, Message, Task

FOLDER = Path(__file__).parents[1] / "prompts" / "golden"
REPLIES = FOLDER.parent / "replies"

TASKS = {
    "household": "heat/0",
    "alfworld": "",
    "textcraft": "depth4/0",
    "miniwob": "email-inbox/0",
    "webshop": "buy/0",
    "hotpotqa": "comparison/1",
    "scienceworld": "find-plant/228",
}
"""By environment, the task of its prompts; ALFWorld's is written for the purpose."""

ASKING = """```python
def solution(agent, start_from=1):
    if start_from <= 1:
        answer = literal_eval(ask_llm('How many minutes has an hour? Answer with the number alone.'))
        assert answer == 60, f'Error in [Step 1]: {answer}'
```"""

FAILING = """```python
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] I look')
        assert start_from > 1, f'Error in [Step 1]: nothing is there. {agent.report()}'
```"""

IN_THE_PAPERS_MANNER = {"refine_prompt": "fresh-without-plan", "sample_set": "paper"}

METHODS: dict[str, tuple[str, dict[str, Any], dict[str, str]]] = {
    "plan": ("adaplanner", {}, {}),
    "ask": ("adaplanner", {}, {"plan": ASKING}),
    "check": ("adaplanner", {}, {"plan": "```python\ndef solution(agent, start_from=1)\n    pass\n```"}),
    "without_plan_refine": ("adaplanner", IN_THE_PAPERS_MANNER, {"plan": FAILING}),
    "react_act": ("react", {}, {}),
    "react_think_act": ("react", {"thoughts": "forced"}, {}),
    "react_formalise": ("react", {"formalise": True}, {"act": "I look around"}),
    "adapt_decompose": ("adapt", {"first": "plan"}, {}),
    "plan_and_execute_decompose": ("plan-and-execute", {}, {}),
    "text_planner_plan_text": ("text-planner", {}, {}),
    "text_planner_refine_text": ("text-planner", {}, {"plan_text": "1. Look around.", "act": "think: Task failed!"}),
    "reflexion_reflect": ("reflexion", {}, {"act": "think: Task failed!"}),
}
"""By prompt: the method, its settings, and the replies to the calls before it. The purpose comes last in the name."""


REFINEMENTS = ("failed", "refused", "replanned")
"""What a prompt for a refinement follows on: a run that failed, a refused plan, a plan that asked to replan."""

REFINED = tuple(f"{after}_refine" for after in REFINEMENTS)

INSTRUCTIONS = """# How orders are handled
- An order without a total is left out of every sum, and {named} in the answer.
- Write no file but the one that the goal names."""


@dataclass
class OrderSums:
    """What the orders come to."""

    total: float
    by_file: dict[str, float]
    currency: Literal["EUR", "USD"]
    latest: date | None = None


WITH_OPTIONS: dict[str, dict[str, Any]] = {
    "instructed_plan": {"instructions": INSTRUCTIONS},
    "instructed_react_act": {"instructions": INSTRUCTIONS},
    "typed_plan": {"returns": PythonType(OrderSums)},
    "typed_react_act": {"returns": PythonType(OrderSums)},
}
"""Prompts over tools, with what the user gives beside the goal: the options, then a name of METHODS."""

PROMPTS = {**dict.fromkeys(TASKS, (*METHODS, *REFINED)), "tools": ("plan", *REFINED, *WITH_OPTIONS)}
"""By environment, the names of its prompts."""


def read_replies(env: str, after: str) -> dict[str, str]:
    """The recorded replies, by purpose, that lead to a refinement; a plan stands in a fence."""
    parts = (REPLIES / f"{env}_{after}.txt").read_text(encoding="utf-8").split("=== ")[1:]
    texts = dict(part.split("\n", 1) for part in parts)
    return {p: text.strip() if p == "ask" else f"```python\n{text.rstrip()}\n```" for p, text in texts.items()}


class CapturingModel:
    """Gives the replies by purpose, and keeps the first messages for which it has none."""

    name = "capturing"

    def __init__(self, replies: dict[str, str]) -> None:
        self._replies = replies
        self.captured: tuple[str, Sequence[Message]] | None = None

    def complete(
        self, messages: Sequence[Message], *, purpose: str, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        if purpose in self._replies:
            return Completion(self._replies[purpose], model=self.name)
        self.captured = purpose, messages
        raise ModelError("the prompt has been captured")


def capture(env: Any, task: Task, name: str) -> str:
    """The prompt of this name: its messages, each under its role."""
    name = name.partition("_")[2] if name in WITH_OPTIONS else name
    if name in METHODS:
        method, settings, replies = METHODS[name]
    else:
        method, settings, replies = "adaplanner", {}, read_replies(env.name, name.removesuffix("_refine"))
    model = CapturingModel(replies)
    try:
        codeplan.run(env, task, codeplan.methods.make(method, **settings), model)
    except CodeplanError:
        if model.captured is None:
            raise
    assert model.captured is not None, f"the method {method} asked nothing that is without a reply"
    purpose, messages = model.captured
    assert name.endswith(purpose), f"the prompt {name} was captured for {purpose}"
    shown = "\n\n".join(f"--- {m['role']} ---\n{m['content']}" for m in messages) + "\n"
    return re.sub(r"-[0-9]{9}(?=>| is data)", "-mark", shown)


def prompts_of(name: str) -> Iterator[tuple[str, str]]:
    """The file names and texts of an environment's prompts; what a refinement has in common with the plan's, once."""
    first = ""
    for prompts in ([p] for p in PROMPTS[name]) if name == "tools" else [PROMPTS[name]]:  # tools do not start over
        with open_environment(name, **WITH_OPTIONS.get(prompts[0], {})) as (env, task):
            for prompt in prompts:
                text = capture(env, task, prompt)
                first = first or text.removesuffix("\n")
                shown = f"--- the first two messages are those of {name}_plan.txt ---"
                yield f"{name}_{prompt}.txt", text.replace(first, shown) if prompt in REFINED else text


@contextmanager
def open_environment(name: str, **options: Any) -> Iterator[tuple[Any, Task]]:
    """An environment with the task of its prompts; tools take ``options``."""
    if name == "tools":
        with closing(order_environment(**options)) as tools:
            yield tools, tools.tasks("test")[0]
        return
    with tempfile.TemporaryDirectory(prefix="codeplan-golden-") as folder:
        settings: dict[str, Any] = {}
        if name == "alfworld":
            split = Path(folder) / "json_2.1.1" / "valid_unseen"
            TASKS[name] = alfworld_files.write(split, "heat", 1, dialect="move")
            settings["data"] = folder
        with closing(envs.make(name, **settings)) as env:
            yield env, envs.select(env, id=TASKS[name])


def write_all() -> None:
    """Rewrite the files of all environments."""
    FOLDER.mkdir(exist_ok=True)
    for name in PROMPTS:
        for file, text in prompts_of(name):
            (FOLDER / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_all()
