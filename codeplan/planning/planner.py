"""Writes plans by asking the model: prompts in, plan sources out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from codeplan.agent_interface import describe_api
from codeplan.episode.episode import Episode
from codeplan.planning.asking import ask_messages, ask_template, render_messages, render_text
from codeplan.planning.conversation import ConversationTurn, PlanConversation
from codeplan.planning.feedback import RunReport, prompt_values, rewrite_values
from codeplan.planning.limits_left import limits_left
from codeplan.planning.prompt_sizes import MAX_ATTEMPTS
from codeplan.planning.sample_choice import SampleSettings, choose_samples
from codeplan.prompts.templates import Prompts
from codeplan.sandbox import extract
from codeplan.sandbox.language.extraction import extract_code
from codeplan.types import Purpose, Task

if TYPE_CHECKING:
    from codeplan.skills.parameter_binding import ParameterBlock
    from codeplan.skills.skill import Skill


RefinePrompt = Literal["conversation", "fresh", "fresh-without-plan"]
"""Whether a refinement continues the conversation, or has a prompt of its own: with the whole plan (the paper's in
MiniWoB++), or with the error's message alone (the paper's in ALFWorld).
"""

_ONE_SAMPLE: Final = SampleSettings()


class Planner:
    """The PlanWriter that asks the model.

    ``task`` is the episode's task or a sub-task of it. The prompts show worked examples (see ``choose_samples``), then
    ``skills``. ``asks`` is the maximum number of questions in one run; ``tries`` and ``replans`` are the method's
    limits; without ``asks`` or ``replans`` the prompts do not mention ``ask_llm`` or ``replan``. ``refine_prompt`` is
    the form of the prompts for refinements.
    """

    def __init__(
        self,
        episode: Episode,
        prompts: Prompts,
        task: Task | None = None,
        *,
        samples: SampleSettings = _ONE_SAMPLE,
        skills: Sequence[Skill] = (),
        asks: int = 0,
        tries: int | None = None,
        replans: int = 0,
        refine_prompt: RefinePrompt = "conversation",
    ) -> None:
        self._episode, self._prompts, self._refine_prompt = episode, prompts, refine_prompt
        task = task or episode.task
        goal = episode.goal_of(task)
        self._limits = {"asks": asks or None, "tries": tries, "replans": replans or None}
        self._language = {"asks": asks > 0, "replans": replans > 0, "tools": episode.has_tools}
        self._conversation: PlanConversation | None = None
        self._reply: str | None = None  # the program in the latest reply; None after a repair
        self._attempts: list[str] = []
        self._values = {
            "api": describe_api(episode.api),
            "advice": prompts.advice(episode.env.name),
            "samples": choose_samples(prompts, episode.env, task.kind, goal, samples, asks=asks > 0),
            "skills": skills,
            "observation": episode.first_observation.text,
            "goal": goal,
            "notes": task.notes,
            **self._language,
        }

    def draft(self) -> str:
        left = limits_left(self._episode, **self._limits).lines
        messages = render_messages(self._prompts, "adaplanner/plan", **self._values, left=left)
        self._conversation = PlanConversation(messages)
        self._reply = extract(ask_messages(self._episode, self._prompts, "adaplanner/plan", "plan", messages))
        return self._reply

    def repair(self, source: str, errors: str) -> str:
        self._reply = None
        return extract_code(self._ask("check", "check", source=source, errors=errors, **self._language))

    def refine(self, report: RunReport) -> str:
        reply, self._reply = self._reply, None
        if self._refine_prompt == "fresh-without-plan":
            text = self._ask("rewrite", "refine", **self._values, **rewrite_values(report))
        elif self._refine_prompt == "fresh" or self._conversation is None:
            values = self._values | prompt_values(report, _last_attempts(self._attempts))
            text = self._ask("refine", "refine", **values, source=report.source)
            self._attempts.append(report.summary)
        else:
            text = self._continue(self._conversation, report, _reply_as_taken(reply, report))
        self._reply = extract_code(text)
        return self._reply

    def _continue(self, conversation: PlanConversation, report: RunReport, reply: str) -> str:
        """The model's reply to the conversation, after the report on the plan of its last ``reply``."""
        name = "adaplanner/turn"

        def tell(dropped: Sequence[str]) -> str:
            return render_text(self._prompts, name, **prompt_values(report, _last_attempts(dropped)))

        conversation.add(ConversationTurn(reply, report.source, tell(()), report.summary), tell)
        return ask_messages(self._episode, self._prompts, name, "refine", conversation.messages)

    def resume_step(self, previous: str, revised: str) -> int | None:
        number = re.search(r"\d{1,4}", self._ask("resume", "resume", previous=previous, revised=revised))
        return int(number.group()) if number else None

    def bind(self, block: ParameterBlock) -> str:
        """The model's reply to the question for the values that a plan's parameters have for this task."""
        values = {name: self._values[name] for name in ("observation", "goal")}
        return self._ask("bind", "bind", earlier=block.goal, parameters=block.parameters, **values)

    def answer_question(self, question: str) -> str:
        """The model's answer to a plan's ``ask_llm``."""
        return self._ask("ask", "ask", question=question).strip()

    def _ask(self, template: str, purpose: Purpose, **values: Any) -> str:
        return ask_template(self._episode, self._prompts, f"adaplanner/{template}", purpose, **values)


def _reply_as_taken(reply: str | None, report: RunReport) -> str:
    """The program of the latest reply; the whole plan if the reply was a repair, or if its steps were renumbered."""
    fixes = report.plan.fixes if report.plan else ()
    return report.source if reply is None or any(fix.rule == "step-guard" for fix in fixes) else reply


def _last_attempts(summaries: Sequence[str]) -> tuple[str, ...]:
    """The newest of the attempts, numbered."""
    numbered = [f"{number}. {summary}" for number, summary in enumerate(summaries, 1)]
    return tuple(numbered[-MAX_ATTEMPTS:])
