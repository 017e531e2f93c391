"""ReAct: the model thinks and acts in turns of one line, or of one call of a tool (Yao et al., ICLR 2023).

Other methods use it as their executor. It stops by the rules of ADaPT's executors (Prasad et al., 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from codeplan.episode.episode import Episode
from codeplan.errors import SizeExceeded, UsageError
from codeplan.methods.registry import PromptsSetting, require_positive
from codeplan.planning.asking import ask_template, load_prompts, sample_for
from codeplan.planning.turns import (
    THOUGHT_REPLY,
    ToolTurns,
    Turn,
    first_line,
    format_transcript,
    is_thought,
    normalise_action,
    parse_claim,
    written_as_thought,
)
from codeplan.plugins import Setting
from codeplan.types import (
    ActionSpace,
    Claimed,
    Ending,
    EnvironmentEnded,
    GaveUp,
    NotSolved,
    Purpose,
    Result,
    Task,
    TooLarge,
)
from codeplan.untrusted.texts import with_count

Demonstrations = Literal["standard", "atomic", "hybrid", "task", "naive", "buy"]
"""The demonstrations that an executor sees, if the environment has them.

``atomic``, ``hybrid``, ``task``: ADaPT's three executors in ALFWorld (its Figure 5 and Table 6): six single skills; the
same and two whole trajectories; two trajectories of the task's own kind, as in the ReAct of AdaPlanner and AutoPlan.
``naive``: WebShop's controller that buys the first product (appendix D); ``buy``: WebShop's sub-task Buy.
"""


class ReAct:
    """Turns of thoughts and actions. Each turn is one model call; a thought is answered with ``OK.``.

    An attempt ends when the environment ends the episode, when a line says ``task completed`` or ``task failed``,
    after ``calls`` turns, or after ``max_idle_turns`` turns in a row without effect (thoughts count as such). None
    stands for the environment's numbers. With ``thoughts="forced"``, a turn is one call for a thought and then one for
    an action; only the action can be without effect. That and ``formalise``, a call that puts the action into form by
    examples, are AutoPlan's turns (Ouyang & Li, 2023, section 3.2.1 and appendix A.1).
    """

    name = "react"
    needs_space = True

    def __init__(
        self,
        *,
        calls: Annotated[
            int | None, Setting("Turns per task at most; by default the environment's number.", "safe", most=10_000)
        ] = None,
        max_idle_turns: Annotated[
            int | None, Setting("Turns in a row without effect at most; likewise.", "safe", most=10_000)
        ] = None,
        example: Annotated[bool, Setting("Show the environment's worked trajectory (few-shot).", "safe")] = True,
        demonstrations: Annotated[
            Demonstrations, Setting("Which worked examples it shows, where the environment has them.", "safe")
        ] = "standard",
        formalise: Annotated[
            bool, Setting("Put each action into a valid form with a call of its own.", "safe")
        ] = False,
        thoughts: Annotated[
            Literal["free", "forced"], Setting("Think when it likes, or before each action (forced).", "safe")
        ] = "free",
        prompts: PromptsSetting = None,
    ) -> None:
        """Raises UsageError if a value does not fit."""
        require_positive(self.name, calls=calls, max_idle_turns=max_idle_turns)
        self.calls, self.max_idle_turns = calls, max_idle_turns
        self.example = example
        self.formalise, self.thoughts = formalise, thoughts
        self.demonstrations = demonstrations
        self.prompts = load_prompts(prompts, self.name)

    def solve(self, task: Task, episode: Episode) -> Result:
        """Think and act until the task ends. The claim is the model's own opinion of this task."""
        run = self._tool_turns(task, episode) if episode.has_tools else _Run(self, task, episode)
        try:
            ending = run.take_turns()
        except SizeExceeded as e:
            return episode.result(TooLarge(e.what, e.limit, str(e)), self.name, False)
        return episode.result(ending, self.name, run.claim)

    def choose_examples(self, env: str, kind: str, goal: str) -> list[str]:
        """The worked trajectories for a task, of the sort that ``demonstrations`` names; none has the task's own goal.

        Those of a kind are ``react/ENVIRONMENT/KIND_1.j2`` and ``KIND_2.j2``.

        Raises: UsageError: the environment has none of that sort.
        """
        if not self.example:
            return []
        names = self._example_names(env, kind)
        if self.demonstrations != "standard":
            self._require_examples(env, names)
        found = (sample_for(self.prompts, folder, name, goal) for folder, name in names)
        return [text for text in found if text is not None]

    def _example_names(self, env: str, kind: str) -> list[tuple[str, str]]:
        """The folders and names of the prompts that hold the demonstrations."""
        if self.demonstrations == "task":
            return [(f"react/{env}", f"{kind}_{number}") for number in (1, 2)]
        return [("react", env if self.demonstrations == "standard" else f"{env}_{self.demonstrations}")]

    def _require_examples(self, env: str, names: Sequence[tuple[str, str]]) -> None:
        for folder, name in names:
            if self.prompts.sample(folder, name) is None:
                raise UsageError(
                    f"there are no demonstrations of the sort {self.demonstrations} for {env} (no prompt "
                    f"{folder}/{name}); leave the setting demonstrations of the method react out"
                )

    def _tool_turns(self, task: Task, episode: Episode) -> ToolTurns:
        for name, given in {"formalise": self.formalise, "thoughts": self.thoughts == "forced"}.items():
            if given:
                raise UsageError(f"the setting {name} of the method react is for actions in words, not for tools")
        space = episode.action_space
        calls, idle = self.calls or space.calls, self.max_idle_turns or space.max_idle_turns
        return ToolTurns(self.prompts, task, episode, calls, idle)


class _Run:
    """The turns of one task."""

    def __init__(self, method: ReAct, task: Task, episode: Episode) -> None:
        self.method, self.task, self.episode = method, task, episode
        self.space: ActionSpace = episode.action_space
        self.turns: list[Turn] = []
        self.claim: bool | None = None
        goal = episode.goal_of(task)
        self._form_sample = sample_for(method.prompts, "react/formalise", episode.env.name, goal)
        self._values = {
            "forms": self.space.forms,
            "samples": method.choose_examples(episode.env.name, task.kind, goal),
            "observation": episode.first_observation.text,
            "goal": goal,
            "notes": task.notes,
        }

    def take_turns(self) -> Ending:
        """Take turns until the task ends; returns how it ended."""
        calls = self.method.calls or self.space.calls
        max_idle = self.method.max_idle_turns or self.space.max_idle_turns
        take_turn = self._take_forced_turn if self.method.thoughts == "forced" else self._take_turn
        for _ in range(calls):
            if self.episode.is_over:
                return EnvironmentEnded()
            self.claim = take_turn()
            if self.claim is not None:
                if self.claim:
                    return Claimed("it says that the task is done")
                return GaveUp("it says that it cannot do the task")
            if self._count_idle_turns() >= max_idle:
                return NotSolved(f"{with_count(max_idle, 'turn')} in a row did nothing")
        return EnvironmentEnded() if self.episode.is_over else NotSolved(f"no end in {with_count(calls, 'turn')}")

    def _take_turn(self) -> bool | None:
        """Take a thought or an action; returns the claim in it."""
        line = self._next_line("act")
        if not is_thought(line):
            line = self._formalise(line)
        self.turns.append(Turn(line, self._answer(line)))
        return parse_claim(line)

    def _take_forced_turn(self) -> bool | None:
        """Take a thought, and then an action unless the thought has a claim; returns that claim."""
        thought = written_as_thought(self._next_line("think"))
        self.turns.append(Turn(thought, THOUGHT_REPLY))
        claim = parse_claim(thought)
        if claim is None:
            action = self._formalise(self._next_line("take"))
            self.turns.append(Turn(action, self.episode.act(normalise_action(action, self.space)).text))
        return claim

    def _next_line(self, template: str) -> str:
        return self._ask(template, "act", stop=("\n",), **self._values, transcript=format_transcript(self.turns))

    def _answer(self, line: str) -> str:
        if is_thought(line):
            return THOUGHT_REPLY
        return self.episode.act(normalise_action(line, self.space)).text

    def _formalise(self, line: str) -> str:
        """The line rewritten as a valid action, if ``formalise`` is set."""
        if not self.method.formalise or not line:
            return line
        seen = format_transcript(self.turns[-3:])
        values = {"forms": self.space.forms, "sample": self._form_sample, "line": line, "seen": seen}
        return self._ask("formalise", "formalise", **values)

    def _ask(self, template: str, purpose: Purpose, **values: Any) -> str:
        return first_line(ask_template(self.episode, self.method.prompts, f"react/{template}", purpose, **values))

    def _count_idle_turns(self) -> int:
        """The number of turns at the end that did nothing: actions without effect, and thoughts unless forced."""
        forced = self.method.thoughts == "forced"
        counted = [turn for turn in self.turns if not (forced and is_thought(turn.line))]
        return _count_idle_turns(counted, self.space)


def _count_idle_turns(turns: Sequence[Turn], space: ActionSpace) -> int:
    """The number of turns at the end that did nothing: thoughts, and actions without effect."""
    count = 0
    for turn in reversed(turns):
        if not (is_thought(turn.line) or space.did_nothing(turn.answer)):
            break
        count += 1
    return count
