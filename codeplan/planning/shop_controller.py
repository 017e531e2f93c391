"""WebShop in ADaPT's sub-tasks: Search, SimpleMatch, DetailMatch and Buy (Prasad et al., 2024, appendices A and G)."""

from __future__ import annotations

import re
from typing import Literal, Protocol, get_args

from codeplan.episode.episode import Episode, actions_since_reset, rewind
from codeplan.episode.method import Method
from codeplan.errors import UsageError
from codeplan.planning.asking import ask_template
from codeplan.planning.decomposition import (
    Decomposition,
    DecompositionError,
    evaluate,
    make_subtask,
    parse_decomposition,
)
from codeplan.prompts.templates import Prompts
from codeplan.protocols import IsShop, ShopControl
from codeplan.recording.events import WarningIssued
from codeplan.types import Claimed, Ending, GaveUp, Result, Task, Value
from codeplan.untrusted.values import in_quotes

ShopModule = Literal["Search", "SimpleMatch", "DetailMatch", "Buy"]

FOUND_PRODUCT = "prod_id"
"""Represents the product that was found last in a plan."""

_VERDICT = re.compile(r"match\s*+:\s*+(true|false)\b", re.IGNORECASE)


class ModuleCall(Value, frozen=True):
    """A sub-task: ``text`` is Search's query; for the other modules it says what to look for.

    ``product`` is the product id for DetailMatch and Buy (``FOUND_PRODUCT`` stands for the latest find); empty for the
    other modules.
    """

    module: ShopModule
    text: str
    product: str = ""


def parse_module(step: str) -> ModuleCall:
    """Parse a step such as ``Buy[B0C1MUG001, moss green]``. Raises: DecompositionError: it is no module's call."""
    name, opened, rest = step.strip().partition("[")
    rest = rest.rstrip(" .")
    module = next((m for m in get_args(ShopModule) if m.lower() == name.strip().lower()), None)
    if module is None or not opened or not rest.endswith("]") or not rest[:-1].strip():
        raise DecompositionError(
            f"the step {in_quotes(step, 80)} is not one of Search[QUERY], SimpleMatch[CRITERIA], "
            "DetailMatch[ID, CRITERIA] and Buy[ID, CRITERIA]"
        )
    text = rest[:-1].strip()
    if module in ("Search", "SimpleMatch"):
        return ModuleCall(module, text)
    product, _, criteria = text.partition(",")
    return ModuleCall(module, criteria.strip(), product.strip(" \"'"))


class PlansInModules(Protocol):
    """A method whose sub-tasks can be WebShop's modules."""

    name: str
    executor: Method
    prompts: Prompts


def solve_in_modules(method: PlansInModules, task: Task, episode: Episode, planner: str, max_depth: int) -> Result:
    """Solve a task in WebShop's modules. The claim is that the product was found and bought.

    Raises: UsageError: the environment is not a shop.
    """
    if not isinstance(episode.env, IsShop):
        raise UsageError(
            f"the setting subtasks=webshop of the method {method.name} is for the environment webshop, "
            f"not for {episode.env.name}; leave it out"
        )
    done = ShopController(episode, episode.env.shop_control, method, planner, max_depth).achieve(task)
    ending: Ending = Claimed("it bought what it looked for") if done else GaveUp("the plan in sub-tasks failed")
    return episode.result(ending, method.name, done)


class ShopController:
    """One WebShop task in modules. It plans first and never tries the whole task at once.

    A failed match is planned again, down to ``max_depth``; Search cannot fail, and Buy is never taken apart. Each
    module begins where the latest Search left the shop. ``shop`` controls its pages; the method's executor buys;
    ``planner`` is the folder of the planner's prompt.
    """

    def __init__(
        self, episode: Episode, shop: ShopControl, method: PlansInModules, planner: str, max_depth: int
    ) -> None:
        self._episode, self._shop = episode, shop
        self._prompts, self._executor = method.prompts, method.executor
        self._planner, self._max_depth = planner, max_depth
        self._kept = actions_since_reset(episode)
        self._found: list[str] = []
        self._failed: list[str] = []
        self._bought = False

    def achieve(self, task: Task, depth: int = 1) -> bool:
        """Plan a goal at ``depth`` and carry the plan out, one level below; True if it believes in success."""
        self._episode.meter.note_depth(depth)
        with self._episode.span("sub-task", f"{self._episode.goal_of(task)} (depth {depth})"):
            plan = self._plan(task)
            if plan is None:
                return False
            steps = {number: parse_module(step) for number, step in plan.steps.items()}
            return evaluate(plan.order, lambda n: self._try(task, steps[n], plan.steps[n], depth + 1))

    def _try(self, task: Task, call: ModuleCall, step: str, depth: int) -> bool:
        if self._over:
            return self._bought
        self._episode.meter.note_depth(depth)
        with self._episode.span("sub-task", f"{step} (depth {depth})"):
            done = self._carry_out(task, call)
        if done:
            return True
        self._failed.append(step)
        if self._over or call.module == "Buy" or depth >= self._max_depth:
            return False
        return self.achieve(make_subtask(task, f"Narrow down the search: {call.text}"), depth)

    @property
    def _over(self) -> bool:
        return self._episode.success or self._episode.is_over

    # -------------------------------------------------------------- the planner

    def _plan(self, task: Task) -> Decomposition | None:
        """The plan for a goal; None if the model's plan and its correction are invalid."""
        reply = problem = ""
        for _ in range(2):
            reply = ask_template(
                self._episode,
                self._prompts,
                f"{self._planner}/webshop_plan",
                "decompose",
                goal=self._episode.goal_of(task),
                page=self._episode.observation.text,
                failed=tuple(self._failed),
                reply=reply,
                problem=problem,
            )
            try:
                plan = parse_decomposition(reply)
                for step in plan.steps.values():
                    parse_module(step)
                return plan
            except DecompositionError as e:
                problem = str(e)
        self._episode.record(WarningIssued(message=f"a plan in sub-tasks was refused: {problem}"))
        return None

    # -------------------------------------------------------------- the modules

    def _carry_out(self, task: Task, call: ModuleCall) -> bool:
        match call.module:
            case "Search":
                return self._search(call.text)
            case "SimpleMatch":
                return self._simple_match(call.text)
            case "DetailMatch":
                return self._detail_match(call)
            case "Buy":
                return self._buy(task, call)

    def _search(self, query: str) -> bool:
        """Search from the shop's first page, without a model call. Cannot fail."""
        rewind(self._episode, ())
        self._episode.act(self._shop.search(query))
        self._kept = actions_since_reset(self._episode)
        return True

    def _simple_match(self, criteria: str) -> bool:
        """Have the model shortlist the products of the list page; False if it names none of the page's."""
        rewind(self._episode, self._kept)
        page = self._episode.observation.text
        reply = self._ask("match", page, criteria)
        answer = next((line for line in reversed(reply.splitlines()) if line.lower().startswith("products:")), "")
        shown = self._shop.product_ids(page)
        ids = [id for id in self._shop.product_ids(answer) if id in shown]
        self._found[:0] = ids
        return bool(ids)

    def _detail_match(self, call: ModuleCall) -> bool:
        """Have the model judge a product by its page and its features."""
        id = self._open(call)
        if id is None:
            return False
        page = self._episode.observation.text
        features = self._episode.act(self._shop.open_features).text
        verdict = _VERDICT.search(self._ask("detail", f"{page}\n{features}", call.text))
        if verdict is None or verdict[1].lower() == "false":
            return False
        self._found.insert(0, id)
        return True

    def _buy(self, task: Task, call: ModuleCall) -> bool:
        """Have the executor choose the options and buy, or claim failure."""
        id = self._open(call)
        if id is None:
            return False
        note = f"The product {id} is open:\n{self._episode.observation.text}"
        result = self._executor.solve(make_subtask(task, f"Buy {id}: {call.text}", note), self._episode)
        last = actions_since_reset(self._episode)[-1]
        self._bought = self._episode.is_over and self._shop.buys(last.name)
        return self._bought or result.claim is True

    def _open(self, call: ModuleCall) -> str | None:
        """Open the product that a call names; None if there is none, or if the page does not show it."""
        rewind(self._episode, self._kept)
        found = self._found[0] if self._found else None
        id = found if call.product == FOUND_PRODUCT else call.product
        if not id or self._over:
            return None
        return None if id not in self._episode.observation.text or not self._click(id) else id

    def _click(self, id: str) -> bool:
        answer = self._episode.act(self._shop.open_product(id))
        return not (answer.done or self._episode.action_space.did_nothing(answer.text))

    def _ask(self, template: str, page: str, criteria: str) -> str:
        return ask_template(
            self._episode, self._prompts, f"adapt/webshop_{template}", "act", page=page, criteria=criteria
        )
