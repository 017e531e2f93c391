"""Has a careless model do jobs whose calls fail, with ``once`` and without, and counts the effects that came twice.

    python benchmarks/careless.py [JOBS]

A job is a list of effects (letters, payments, bookings), each wanted once. Of all calls, 20 % fail: most before their
effect, with a ConnectionError, the others after it, past their limit of time, so that nobody knows whether they were
done. The scripted model repeats its plan, drops its variables, starts over, and renumbers, merges, splits and reorders
its steps, by the job's seed. Exits with 1 if an effect came twice with ``once``.
"""

from __future__ import annotations

import io
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr
from itertools import pairwise
from typing import NamedTuple

import codeplan
from codeplan.recording.events import CallRepeated, Event
from codeplan.types import Message

JOBS = 100
SEED = 36
FAILING = 0.2
IN_DOUBT = 0.25
"""The share of the failing calls whose effect came, but no answer in time."""
LIMIT_SECONDS = 0.15
TRIES = 60
GOAL = "Do each of these once: {}"
ACTING = ("send", "pay", "book")
PEOPLE = ("ann", "bob", "cid", "dora", "emil")


class FailingTools:
    """Tools that act, with a log of their effects. They fail by the job's seed."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(f"{SEED} world {seed}")
        self._log: list[str] = []

    def send(self, to: str) -> str:
        """Send a letter."""
        return self._act(f"send({to!r})")

    def pay(self, invoice: int, to: str) -> str:
        """Pay an invoice."""
        return self._act(f"pay({invoice!r}, {to!r})")

    def book(self, room: str, day: int) -> str:
        """Book a room for a day."""
        return self._act(f"book({room!r}, {day!r})")

    def rooms(self) -> list[str]:
        """The names of all rooms."""
        return ["attic", "cellar", "hall"]

    def _act(self, effect: str) -> str:
        fails = self._draw.random() < FAILING
        in_doubt = self._draw.random() < IN_DOUBT
        if fails and not in_doubt:
            raise ConnectionError("the line is down; try again")
        self._log.append(effect)
        if fails:
            time.sleep(2 * LIMIT_SECONDS)
        return "done"


class WrittenStep(NamedTuple):
    """A step of a plan: its effects, the variable that counts them, and whether it looks around first."""

    effects: tuple[str, ...]
    variable: str
    looks: bool = False

    def text(self, number: int, *, catches: bool) -> str:
        """The step's block. ``catches``: it takes a call past its limit for done."""
        lines = [f"{self.variable} = []"] + ["assert agent.rooms()"] * self.looks
        for effect in self.effects:
            if catches:
                lines += ["try:", f"    agent.{effect}", "except TimeoutError:", "    pass"]
            else:
                lines += [f"agent.{effect}"]
            lines += [f"{self.variable}.append({effect!r})"]
        lines += [f"assert len({self.variable}) == {len(self.effects)}, f'Error in [Step {number}]: not all'"]
        body = "".join(f"        {line}\n" for line in lines)
        return f"    if start_from <= {number}:\n        print('[Step {number}] {len(self.effects)} calls')\n{body}"


class CarelessModel:
    """Writes plans for a list of effects, and does not mind what was done already."""

    name = "careless"

    def __init__(self, effects: Sequence[str], seed: int) -> None:
        self._draw = random.Random(f"{SEED} model {seed}")
        self._effects = list(effects)
        self._catches = self._draw.random() < 0.5
        self._steps: list[WrittenStep] = []
        self._names = 0
        self._cut_anew()

    def complete(
        self, messages: Sequence[Message], *, purpose: str, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> codeplan.Completion:
        """A plan; a careless change of the one before, if there was one."""
        first = 0
        if purpose != "plan":
            self._catches = self._catches or "TimeoutError" in messages[-1]["content"]
            habit = self._draw.choice(
                (self._repeat, self._drop, self._start_over, self._renumber, self._cut_anew, self._reorder)
            )
            habit()
            if (
                habit == self._drop and self._draw.random() < 0.5
            ):  # the changed steps alone: the others stay as they are
                first = self._draw.randrange(len(self._steps))
        blocks = [step.text(n, catches=self._catches) for n, step in enumerate(self._steps, 1)]
        head = "" if first else "def solution(agent, start_from=1):\n"
        return codeplan.Completion("```python\n" + head + "".join(blocks[first:]) + "    return 'done'\n```")

    def _repeat(self) -> None:
        """Write the same plan again."""

    def _drop(self) -> None:
        """Begin a step with another, empty variable."""
        at = self._draw.randrange(len(self._steps))
        self._steps[at] = self._steps[at]._replace(variable=self._new_name())

    def _start_over(self) -> None:
        self._steps[0] = self._steps[0]._replace(variable=self._new_name())

    def _renumber(self) -> None:
        """Put a step without effects somewhere, or take it away."""
        kept = [step for step in self._steps if step.effects]
        if len(kept) == len(self._steps):
            kept.insert(self._draw.randrange(len(kept) + 1), WrittenStep((), self._new_name(), looks=True))
        self._steps = kept

    def _cut_anew(self) -> None:
        """Merge and split the steps."""
        cuts = sorted(self._draw.sample(range(1, len(self._effects)), self._draw.randrange(len(self._effects))))
        bounds = [0, *cuts, len(self._effects)]
        parts = [tuple(self._effects[a:b]) for a, b in pairwise(bounds)]
        self._steps = [WrittenStep(part, "done", looks=self._draw.random() < 0.2) for part in parts]

    def _reorder(self) -> None:
        self._draw.shuffle(self._effects)
        self._cut_anew()

    def _new_name(self) -> str:
        self._names += 1
        return f"done_{self._names}"


class Figures(NamedTuple):
    """What jobs came to. ``repeated`` are calls that got an answer from the record."""

    finished: int = 0
    wanted: int = 0
    effects: int = 0
    doubles: int = 0
    repeated: int = 0
    missing: int = 0
    model_calls: int = 0

    def plus(self, other: Figures) -> Figures:
        """The sums of both."""
        return Figures(*map(sum, zip(self, other, strict=True)))


def play_job(seed: int, *, once: bool) -> Figures:
    """Play one job."""
    effects, world, repeated = draw_effects(seed), FailingTools(seed), Counter[str]()

    def verify(value: object) -> bool | str:
        missing = set(effects) - set(world._log)
        return not missing or f"missing: {', '.join(sorted(missing))}"

    def watch(event: Event) -> None:
        repeated[type(event).__name__] += 1

    result = codeplan.do(
        GOAL.format(", ".join(effects)),
        tools=codeplan.tool(world, timeout=LIMIT_SECONDS),
        once=ACTING if once else (),
        verify=verify,
        model=CarelessModel(effects, seed),
        on_event=watch,
        tries=TRIES,
        no_progress=0,
    )
    log = Counter(world._log)
    return Figures(
        finished=result.success,
        wanted=len(effects),
        effects=log.total(),
        doubles=sum(n - 1 for n in log.values()),
        repeated=repeated[CallRepeated.__name__],
        missing=len(set(effects) - set(log)),
        model_calls=result.model_calls,
    )


def draw_effects(seed: int) -> list[str]:
    """The effects of a job: four to ten different calls."""
    draw = random.Random(f"{SEED} effects {seed}")
    every = [f"send({name!r})" for name in PEOPLE]
    every += [f"pay({number!r}, {name!r})" for number, name in enumerate(PEOPLE, 1)]
    every += [f"book({room!r}, {day!r})" for room in ("attic", "hall") for day in (1, 2)]
    return draw.sample(every, draw.randint(4, 10))


def play_jobs(jobs: int, *, once: bool) -> Figures:
    """The sums over all jobs."""
    with ThreadPoolExecutor(2) as pool:
        total = Figures()
        for figures in pool.map(lambda seed: play_job(seed, once=once), range(jobs)):
            total = total.plus(figures)
    return total


def main() -> int:
    """Print both rows; 1 if an effect came twice with ``once``."""
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else JOBS
    print(f"{jobs} jobs, {FAILING:.0%} of the calls fail")
    print(f"{'':13}" + "".join(f"{name.replace('_', ' '):>13}" for name in Figures._fields))
    with redirect_stderr(io.StringIO()):  # the tracebacks of the tools that fail
        with_once, without = play_jobs(jobs, once=True), play_jobs(jobs, once=False)
    for label, row in (("with once", with_once), ("without once", without)):
        print(f"{label:13}" + "".join(f"{value:13,}" for value in row), flush=True)
    return 1 if with_once.doubles else 0


if __name__ == "__main__":
    sys.exit(main())
