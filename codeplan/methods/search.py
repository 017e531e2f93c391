"""Search over plans: several plans for one task, each played from a known state of the world.

``tree`` is the tree search of LATS (Zhou et al., ICML 2024, arXiv 2310.04406) with plans in code as nodes: a node is a
plan that was run, in the state of the world that it left. Taken from there: the choice of a node by UCT, its expansion
by sampled children, the model's own rating of a node, the mean over a node's descendants, and the return to a node's
state. Not taken: nodes of single actions and their simulation, since running a plan is both; self-consistency, in whose
place stands the share of the plan's steps that are done; reflections, in whose place stands the report on the run,
which each refinement reads. With one child a node it is AdaPlanner.

``best-of-n`` is the search without refinement: n first plans, each from the start.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final, Protocol, runtime_checkable

from codeplan.budget import temperature_in
from codeplan.episode.episode import Episode, EpisodeState, require_fresh_world
from codeplan.errors import BudgetExceeded, UsageError
from codeplan.methods.registry import ExecutorSpec, PromptsSetting, require_positive, resolve_executor
from codeplan.planning.asking import ask_template, load_prompts
from codeplan.planning.refinement import RefinementLoop
from codeplan.planning.turns import collect_turns, format_transcript
from codeplan.plugins import Setting
from codeplan.prompts.templates import Prompts
from codeplan.recording.events import EpisodeContinued
from codeplan.sandbox import Sandbox
from codeplan.skills.selection import SkillSelection
from codeplan.types import BudgetSpent, Ending, NotSolved, Result, Task, TrialEnded
from codeplan.untrusted.texts import MAX_REASON_CHARS, message_text, one_line, with_count
from codeplan.untrusted.values import in_quotes

PlanExecutorSetting = Annotated[
    ExecutorSpec, Setting("AdaPlanner, as a table of its name and settings.", "safe", group="codeplan.methods")
]
SearchTemperature = Annotated[
    float | None,
    Setting("The temperature from the second plan of a state on, in place of the model's own.", "safe", most=10),
]
_ONE_RUN: Final = {"name": "adaplanner", "tries": 1}
_RATING = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3})?")


@runtime_checkable
class PlansInCode(Protocol):
    """A method whose loop of plans a search can drive, as AdaPlanner. Copies of a loop share the three attributes."""

    name: str
    sandbox: Sandbox
    prompts: Prompts
    settings: Any

    def solve(self, task: Task, episode: Episode) -> Result:
        """As a Method's."""
        ...

    def choose_skills(self, task: Task, episode: Episode) -> SkillSelection:
        """The skills for the task's prompts. Begins the work on a task, and records what it must."""
        ...

    def make_loop(self, task: Task, episode: Episode, skills: SkillSelection) -> RefinementLoop:
        """The loop for the task, with these skills in its prompts. It has not begun."""
        ...

    def record_skills(self, task: Task, skills: SkillSelection, loop: RefinementLoop, result: Result) -> None:
        """Record whether the skills helped, if somebody judged the loop's plan."""
        ...


class BestOfN:
    """n first plans, each played from the start of the task; the best one counts, and the world stands as it left it.

    A success is the best and ends the search. Otherwise the environment's reward decides, which is also a verifier's
    word, then the share of the plan's steps whose assertions held. The search also ends when the model writes a plan
    that was played already. ``executor`` with ``tries`` above 1 refines each plan.
    """

    name = "best-of-n"

    def __init__(
        self,
        *,
        executor: PlanExecutorSetting = _ONE_RUN,
        n: Annotated[int, Setting("Plans at most.", "safe", most=1000)] = 4,
        temperature: SearchTemperature = 0.7,
    ) -> None:
        """Raises UsageError if a value does not fit."""
        require_positive(self.name, n=n)
        self.executor, self.n = _require_planner(self.name, executor), n
        self.temperature = _require_temperature(self.name, temperature)

    def solve(self, task: Task, episode: Episode) -> Result:
        """Play plans until one succeeds or ``n`` are played. Raises: UsageError: actions are real here."""
        if self.n > 1:
            require_fresh_world(episode, self.name, "n=1, or the method adaplanner")
        search = _Search(self.executor, task, episode, self.temperature)

        def play_next() -> bool:
            if search.root.is_full or len(search.root.children) == self.n:
                return False
            search.play(search.root, whole=True)
            return True

        return search.run(play_next, self.name)


class Tree:
    """Plans and their refinements as a tree, grown where the plans did best.

    The value of a plan is the share of its steps that are done, mixed with the model's rating by the weight ``word``.
    The search ends with a success, after ``calls`` model calls, or when every branch has ended as AdaPlanner would end
    it. Then the best plan counts, as in best-of-n.
    """

    name = "tree"

    def __init__(
        self,
        *,
        executor: PlanExecutorSetting = "adaplanner",
        width: Annotated[int, Setting("Plans from one state at most.", "safe", most=100)] = 3,
        calls: Annotated[int, Setting("Begin no plan after so many model calls.", "safe", most=10_000)] = 30,
        exploration: Annotated[float, Setting("The weight of seldom tried plans in UCT.", "safe", most=100)] = 1.0,
        word: Annotated[
            float, Setting("The weight of the model's rating, from 0 (never asked) to 1.", "safe", most=1)
        ] = 0.5,
        temperature: SearchTemperature = 0.7,
        prompts: PromptsSetting = None,
    ) -> None:
        """Raises UsageError if a value does not fit."""
        require_positive(self.name, width=width, calls=calls)
        if not (math.isfinite(exploration) and exploration >= 0):
            raise UsageError(f"the setting exploration of the method {self.name} is {exploration}; give 0 or more")
        if not 0 <= word <= 1:
            raise UsageError(f"the setting word of the method {self.name} is {word}; give a number from 0 to 1")
        self.executor = _require_planner(self.name, executor)
        self.width, self.calls, self.exploration, self.word = width, calls, exploration, word
        self.temperature = _require_temperature(self.name, temperature)
        self.prompts = load_prompts(prompts, self.name)

    def solve(self, task: Task, episode: Episode) -> Result:
        """Grow the tree until a plan succeeds or the search is over. Raises: UsageError: actions are real here."""
        require_fresh_world(episode, self.name, "the method adaplanner")
        search = _Search(self.executor, task, episode, self.temperature)
        last_call = episode.meter.model_calls + self.calls

        def play_next() -> bool:
            parent = self._choose(search.root)
            if parent is None or episode.meter.model_calls >= last_call:
                return False
            search.play(parent, rate=self._rate if self.width > 1 and self.word else None)
            return True

        return search.run(play_next, self.name)

    def _choose(self, root: _Node) -> _Node | None:
        """The node to get a child: from the root on, the child with the highest UCT, down to one that lacks children;
        None if every branch has ended."""
        node = root
        while node.is_full or len(node.children) >= self.width:
            growing = [child for child in node.children if child.can_grow(self.width)]
            if not growing:
                return None
            node = max(growing, key=lambda child: child.uct(self.exploration))
        return node

    def _rate(self, task: Task, loop: RefinementLoop, first_event: int) -> float:
        """The value of the loop's latest plan, from 0 to 1, with the model's rating of it."""
        episode, steps = loop.episode, len(loop.attempt.plan.steps) if loop.attempt else 0
        reply = ask_template(
            episode,
            self.prompts,
            "search/rate",
            "rate",
            observation=episode.first_observation.text,
            goal=episode.goal_of(task),
            plan=loop.source,
            transcript=format_transcript(collect_turns(episode, first_event)),
            done=round(loop.steps_done * steps),
            steps=steps,
        )
        number = _RATING.search(reply)
        if number is None:
            return loop.steps_done
        return (1 - self.word) * loop.steps_done + self.word * min(float(number[0]), 10) / 10


class _Node:
    """A plan that was played, or the root, which stands for the start. ``loop`` can write the next plan, None at the
    root; ``ending`` is how it ended, None if it can go on. ``state`` is that of episode and world after it.
    """

    def __init__(self, parent: _Node | None, state: EpisodeState, loop: RefinementLoop | None = None) -> None:
        self.parent, self.state, self.loop = parent, state, loop
        self.ending: Ending | None = None
        self.children: list[_Node] = []
        self.is_full = False  # the model has no other plan to offer
        self._visits, self._sum = 0, 0.0

    def add_value(self, value: float) -> None:
        """Count a value for this node and those above it."""
        node: _Node | None = self
        while node is not None:
            node._visits, node._sum, node = node._visits + 1, node._sum + value, node.parent

    def can_grow(self, width: int) -> bool:
        """Whether this node, or one below it, may get a child."""
        if self.ending is not None:
            return False
        lacks_children = not self.is_full and len(self.children) < width
        return lacks_children or any(child.can_grow(width) for child in self.children)

    def uct(self, exploration: float) -> float:
        """The mean value, with a bonus for nodes that were seldom tried (Kocsis and Szepesvári, 2006)."""
        assert self.parent is not None, "the root is not compared"
        return self._sum / self._visits + exploration * math.sqrt(math.log(self.parent._visits) / self._visits)

    def rank(self) -> tuple[bool, float, float]:
        """What the best plan has most of: success, then reward, then the share of its steps that are done."""
        assert self.loop is not None, "the root is no plan"
        return self.state.success, self.state.reward, self.loop.steps_done

    def below(self) -> Iterator[_Node]:
        """The nodes below this one, each before its children."""
        for child in self.children:
            yield child
            yield from child.below()


_Rating = Callable[[Task, RefinementLoop, int], float]


class _Search:
    """The plans of one search. ``root`` is the state that it started from."""

    def __init__(self, executor: PlansInCode, task: Task, episode: Episode, temperature: float | None) -> None:
        self._executor, self._task, self._episode, self._temperature = executor, task, episode, temperature
        self._skills = executor.choose_skills(task, episode)
        self.root = _Node(None, episode.mark())
        self._standing: _Node | None = self.root  # where the world stands; None: in the middle of a plan
        self._done = False

    def play(self, parent: _Node, *, whole: bool = False, rate: _Rating | None = None) -> None:
        """Write and run one more plan from the state of ``parent``; with ``whole``, go on until its loop ends.

        A plan that was played from there already is not played again, and no further plan is written there.
        """
        if self._standing is not parent:
            self._episode.go_back(parent.state)
        self._standing, first_event = None, len(self._episode.trace.events)
        temperature = self._temperature if parent.children else None
        with self._episode.span("trial", self._name_of_next(parent)), temperature_in(temperature):
            loop = self._loop_from(parent)
            ending = loop.write()
            if any(loop.source == child.loop.source for child in parent.children if child.loop):
                parent.is_full = True
                return
            ending = ending or loop.play()
            while whole and ending is None:
                ending = loop.advance()
            node = _Node(parent, self._episode.mark(), loop)
            node.ending, self._done = ending, self._episode.is_done(self._task, loop.claim)
            value = loop.steps_done
            if rate and ending is None:
                value = rate(self._task, loop, first_event)
        parent.children.append(node)
        node.add_value(value)
        self._standing = node

    def _name_of_next(self, parent: _Node) -> str:
        names, node = [str(len(parent.children) + 1)], parent
        while node.parent is not None:
            names.append(str(node.parent.children.index(node) + 1))
            node = node.parent
        return ".".join(reversed(names))

    def _loop_from(self, parent: _Node) -> RefinementLoop:
        """A new loop, or a copy of the parent's, whose agent and conversation the plans after it share with nobody."""
        if parent.loop is None:
            return self._executor.make_loop(self._task, self._episode, self._skills)
        shared = (self._episode, self._executor.sandbox, self._executor.prompts, self._executor.settings)
        try:
            return copy.deepcopy(parent.loop, {id(each): each for each in shared})
        except Exception as e:  # the agent may be anybody's
            why = one_line(message_text(e), MAX_REASON_CHARS)
            raise UsageError(
                f"the agent of the environment {self._episode.env.name} cannot be copied, which the method tree needs "
                f"for each branch: {why}; take the method best-of-n"
            ) from e

    def run(self, play_next: Callable[[], bool], method: str) -> Result:
        """Play plans until one succeeds, ``play_next`` has none, or the budget is spent; the result of the best plan.

        Raises: BudgetExceeded: it is spent before the first plan has ended.
        """
        episode = self._episode
        while True:
            spent: BudgetExceeded | None = None
            try:
                while not self._done and play_next():
                    pass
            except BudgetExceeded as e:
                if not self.root.children:
                    raise
                spent = e
            best = self._take_best()
            if spent is None or not isinstance(episode.trace.events[-1], EpisodeContinued):
                return self._result(best, spent, method)

    def _take_best(self) -> _Node:
        """The best plan; episode and world stand where it left them."""
        best = max(self.root.below(), key=_Node.rank)
        if self._standing is not best:
            self._episode.go_back(best.state)
        self._standing = best
        return best

    def _result(self, best: _Node, spent: BudgetExceeded | None, method: str) -> Result:
        assert best.loop is not None, "the root is no plan"
        played = with_count(sum(1 for _ in self.root.below()), "plan")
        played += ", and the model wrote no other" if self.root.is_full else ""
        how = best.ending or NotSolved(f"it did {best.loop.steps_done:.0%} of its steps")
        ending: Ending = TrialEnded(f"the best of {played}", how)
        if spent is not None:
            ending = BudgetSpent(spent.kind, spent.limit, str(spent))
        result = self._episode.result(ending, method, best.loop.claim)
        self._executor.record_skills(self._task, self._skills, best.loop, result)
        return result


def _require_planner(method: str, executor: ExecutorSpec) -> PlansInCode:
    """The method that ``executor`` names. Raises: UsageError: it has no plans in code."""
    planner = resolve_executor(method, executor)
    if not isinstance(planner, PlansInCode):
        raise UsageError(
            f"the executor of the method {method} is {in_quotes(planner.name)}, and it searches over plans in code; "
            "give adaplanner, or a table with name = 'adaplanner'"
        )
    return planner


def _require_temperature(method: str, value: float | None) -> float | None:
    """Raises: UsageError: the temperature is below 0 or infinite."""
    if value is not None and not (math.isfinite(value) and value >= 0):
        raise UsageError(f"the setting temperature of the method {method} is {value}; give 0 or more")
    return value
