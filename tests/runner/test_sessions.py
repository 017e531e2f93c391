"""``codeplan.Session``: goals that follow one another over one state and one trace."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import codeplan
from codeplan.errors import UsageError
from codeplan.flows import Flows, goal
from codeplan.recording.events import CallAnswered, CallBegun, EpisodeEnded, ModelCalled, TurnStarted
from codeplan.runner.session import Session
from codeplan.types import BudgetSpent, Claimed, NeedsInput, Waiting


def plan(body: str) -> str:
    return (
        f"```python\ndef solution(agent, start_from=1):\n    if start_from <= 1:\n{textwrap.indent(body, ' ' * 8)}\n```"
    )


class Model:
    """Answers with one reply after the other, and keeps the prompts."""

    name = "by-hand"

    def __init__(self, *replies: str) -> None:
        self.replies, self.prompts = list(replies), list[str]()

    def __call__(self, messages: Any) -> str:
        self.prompts.append("\n\n".join(m["content"] for m in messages))
        reply = self.replies.pop(0)
        return reply if reply.startswith("```") or reply.endswith("?") else plan(reply)


class Shop:
    """A shop."""

    def __init__(self) -> None:
        self.orders: list[int] = []

    def search(self, word: str) -> list[dict[str, Any]]:
        """Find products."""
        return [{"id": i, "name": f"{word} {i}", "text": "x" * 700} for i in (1, 2, 3)]

    def buy(self, id: int) -> str:
        """Buy a product."""
        self.orders.append(id)
        return f"order {len(self.orders)}"


@pytest.fixture
def shop() -> Shop:
    return Shop()


Start = Callable[..., Session]


@pytest.fixture
def start(shop: Shop, tmp_path: Path) -> Iterator[Start]:
    opened: list[Session] = []

    def make(*replies: str, **options: Any) -> Session:
        given: dict[str, Any] = {"tools": shop, "folder": tmp_path / "s"} | options
        opened.append(Session(model=Model(*replies), **given))
        return opened[-1]

    yield make
    for session in opened:
        session.close()


def prompts(session: Session) -> list[str]:
    return session._model.prompts  # type: ignore[union-attr]


def test_a_plan_reads_what_the_plans_before_it_left(start: Start, shop: Shop) -> None:
    session = start(
        "found = agent.search('lamp')\nreturn found[0]['name']",
        "bought = agent.buy(found[1]['id'])\nreturn len(found[1]['text'])",
        "return [returned_1, returned_2, bought, len(found)]",
    )
    results = [session.do(each) for each in ("find lamps", "buy the second", "sum it up")]
    assert [r.value for r in results] == ["lamp 1", 700, ["lamp 1", 700, "order 1", 3]]
    assert [(r.model_calls, r.actions) for r in results] == [(1, 1), (1, 1), (1, 0)]
    assert shop.orders == [2]
    last = prompts(session)[-1]
    assert "1. User: find lamps" in last and "2. buy(id=2) -> 'order 1'" in last
    assert "x" * 401 not in last


def test_a_helper_function_reads_them_as_well(start: Start) -> None:
    helper = "```python\ndef solution(agent, start_from=1):\n    def twice(n):\n        return n * 2\n"
    session = start("price = 21", helper + "    if start_from <= 1:\n        return twice(price)\n```")
    session.do("keep a price")
    assert session.do("double it").value == 42


def test_a_repaired_plan_keeps_the_variables_that_only_its_new_steps_read(start: Start) -> None:
    two = "```python\ndef solution(agent, start_from=1):\n    if start_from <= 1:\n        b = 1\n        assert b == 2\n```"
    more = "```python\n    if start_from <= 1:\n        b = 2\n        return [b, a]\n```"
    session = start("a = 1", two, more)
    session.do("keep a")
    assert session.do("then b").value == [2, 1]


def test_recall_gives_whole_answers_and_finds_older_turns(start: Start) -> None:
    session = start(
        "return agent.search('lamp')[0]['id']",
        *("return 'nothing'" for _ in range(5)),
        "return [len(agent.recall(1)[2]['text']), [t['message'] for t in agent.recall('LAMPS')]]",
        "try:\n    agent.recall(77)\nexcept KeyError as error:\n    return str(error)",
    )
    session.do("find lamps")
    assert "def recall" in (session.do("1"), prompts(session)[-1])[1]
    for number in range(2, 6):
        session.do(f"{number}")
    assert session.do("look back").value == [700, ["find lamps"]]
    assert "77" in session.do("look wrong").value


def test_a_short_session_has_no_recall(start: Start) -> None:
    session = start("return 1", "return 2")
    session.do("one"), session.do("two")
    assert "recall" not in prompts(session)[-1]


def test_a_session_is_one_trace(start: Start, shop: Shop, tmp_path: Path) -> None:
    session = start("return agent.buy(1)", "return agent.buy(2)", "return agent.buy(3)")
    for message in ("one", "two", "three"):
        session.do(message)
    assert [(turn.message, turn.result and turn.result.value) for turn in session.turns] == [
        ("one", "order 1"),
        ("two", "order 2"),
        ("three", "order 3"),
    ]
    session.close()
    assert codeplan.replay(tmp_path / "s").value == "order 3"
    assert codeplan.resume(tmp_path / "s", tools=shop, model=Model()).value == "order 3"
    events = codeplan.Trace.read(tmp_path / "s/trace.jsonl")
    assert sum(isinstance(e, EpisodeEnded) for e in events) == 1
    at = next(e.seq for e in events if isinstance(e, ModelCalled) and "two" in e.question)
    branch = codeplan.fork(
        tmp_path / "s", at, tmp_path / "b", answer=plan("return agent.buy(9)"), tools=shop, model=Model()
    )
    assert (branch.value, shop.orders) == ("order 4", [1, 2, 3, 9])


def test_a_session_goes_on_from_its_folder_without_asking_again(start: Start, shop: Shop) -> None:
    first = start("x = agent.buy(1)\nreturn x")
    first.do("one")
    first.close()
    told: list[Any] = []
    second = start("return x + '!'", on_event=told.append)
    assert second.do("two").value == "order 1!"
    assert shop.orders == [1]
    assert isinstance(told[0], TurnStarted), "what happened before is not told again"


def test_a_finished_goal_becomes_a_session(shop: Shop, tmp_path: Path) -> None:
    codeplan.do("one", tools=shop, model=Model("x = agent.buy(1)\nreturn x"), out=tmp_path / "s")
    with Session(tools=shop, model=Model("return x"), folder=tmp_path / "s") as session:
        assert session.do("two").value == "order 1"


def test_an_equal_call_of_the_next_turn_is_made_anew(start: Start, shop: Shop) -> None:
    session = start("return agent.buy(1)", "return agent.buy(1)", once=["buy"])
    session.do("buy one"), session.do("another")
    assert shop.orders == [1, 1]


def test_a_question_ends_a_turn_and_the_answer_goes_on_in_it(start: Start, shop: Shop) -> None:
    session = start("Which one?", "return agent.buy(2)", "return 'next'")
    asked = session.do("buy a lamp")
    assert isinstance(asked.ending, NeedsInput) and asked.model_calls == 1
    done = session.answer("the second")
    assert (done.value, shop.orders) == ("order 1", [2])
    with pytest.raises(UsageError, match="asks you nothing"):
        session.answer("again")
    assert session.do("go on").value == "next"
    assert "you asked: Which one? -> the second" in prompts(session)[-1]


def test_a_turn_that_asks_may_be_left(start: Start) -> None:
    session = start("Which one?", "return 'well'")
    session.do("buy a lamp")
    assert session.do("never mind").value == "well"
    assert len(session.turns) == 2
    session.close()
    assert codeplan.replay(session.folder).value == "well"


def test_a_call_that_waits_goes_on_after_the_approval_or_is_left(start: Start, shop: Shop) -> None:
    session = start("agent.buy(1)", "return agent.buy(2)", "return 'left'", ask=["buy"])
    assert isinstance(session.do("one").ending, Waiting)
    codeplan.approve(session.folder)
    assert isinstance(session.resume().ending, Claimed) and shop.orders == [1]
    assert isinstance(session.do("two").ending, Waiting)
    assert session.do("no, leave it").value == "left"
    assert shop.orders == [1]


def test_the_budget_holds_for_each_turn(start: Start, shop: Shop) -> None:
    each = "for n in range(2):\n    agent.buy(n)"
    session = start(each, each, "for n in range(9):\n    agent.buy(n)", each, budget=codeplan.Budget(actions=2))
    assert [type(session.do(m).ending) for m in "abcd"] == [Claimed, Claimed, BudgetSpent, Claimed]
    assert len(shop.orders) == 8
    session.close()
    assert isinstance(codeplan.replay(session.folder).ending, Claimed)


def test_an_interrupted_turn_gives_way_to_the_next(start: Start, shop: Shop) -> None:
    def buy(id: int) -> str:
        """Buy."""
        shop.buy(id)
        if len(shop.orders) == 1:
            raise KeyboardInterrupt
        return "bought"

    careful = "try:\n    return agent.buy(1)\nexcept OSError:\n    return 'nobody knows'"
    session = start("return agent.buy(1)", careful, "return agent.buy(2)", tools=buy, once=["buy"])
    with pytest.raises(KeyboardInterrupt):
        session.do("one")
    assert session.do("two").value == "nobody knows", "a call in doubt is not made again unasked"
    assert "buy(id=1): in doubt" in prompts(session)[1]
    assert session.do("three").value == "bought" and shop.orders == [1, 2]
    session.close()
    assert codeplan.replay(session.folder).value == "bought"


def test_tools_may_change_from_turn_to_turn(start: Start, shop: Shop) -> None:
    def refund(order: str) -> str:
        """Give money back."""
        return f"refunded {order}"

    session = start("x = agent.buy(1)\nreturn x", "return agent.refund(x)", "return agent.refund('o')")
    session.do("buy")
    assert session.do("refund", tools=refund).value == "refunded order 1"
    session.close()
    assert "New methods since the last turn: refund." in prompts(session)[-1]
    assert "def buy" not in prompts(session)[-1]
    with start("return agent.refund('o')", tools=refund) as later:
        assert later.do("again").value == "refunded o"
    assert codeplan.replay(session.folder).value == "refunded o"


def test_each_turn_has_a_type_of_its_own(start: Start) -> None:
    session = start("return [1, 2]", "return 'x'", "```python\n    if start_from <= 1:\n        return 3\n```")
    assert session.do("a list", returns=list[int]).value == [1, 2]
    assert session.do("a number", returns=int).value == 3
    session.close()
    assert codeplan.replay(session.folder).value == 3


def test_values_of_the_user_are_variables(start: Start) -> None:
    session = start("return prices['lamp']", "return rate * prices['lamp']", variables={"prices": {"lamp": 20}})
    assert session.do("the price").value == 20
    assert session.do("in euro", variables={"rate": 0.5}).value == 10.0
    assert "prices = {'lamp': 20}" in prompts(session)[0]
    session.close()
    assert codeplan.replay(session.folder).value == 10.0


@pytest.mark.parametrize("way", ["flows", "blind"])
def test_where_data_must_not_reach_the_planner_a_turn_is_told_by_shapes(start: Start, way: str) -> None:
    options: dict[str, Any] = {"flows": Flows(rules={"buy": goal})} if way == "flows" else {"feedback": "blind"}
    session = start("found = agent.search('lamp')", "return found[0]['id']", **options)
    session.do("find a lamp"), session.do("its id")
    told = prompts(session)[-1]
    assert "lamp 1" not in told and "list of 3 of dict" in told


def test_flows_follow_variables_from_turn_to_turn(start: Start, shop: Shop) -> None:
    first = "found = agent.search('lamp')\nmine = wanted"
    session = start(
        first,
        "return agent.buy(mine)",
        "return agent.buy(found[0]['id'])",
        flows=Flows(rules={"buy.id": goal}),
        variables={"wanted": 2},
    )
    session.do("find lamps")
    assert session.do("buy mine").value == "order 1"
    assert isinstance(session.do("buy the first").ending, Waiting)
    assert shop.orders == [2]


def test_the_prompt_stays_small(start: Start) -> None:
    body = "v{0} = agent.search('lamp {0}')\nreturn 'done {0}'"
    session = start(*(body.format(n) for n in range(200)))
    for number in range(200):
        session.do(f"Please do what number {number} of the list wants, as we said before, but a little better")
    sizes = list(map(len, prompts(session)))
    assert sizes[199] <= 1.3 * sizes[9]
    assert "earlier turns: agent.recall(words)" in prompts(session)[-1]


def test_one_process_at_a_time_has_a_session(start: Start, shop: Shop) -> None:
    session = start("return 1")
    session.do("one")
    with start("return 2") as other, pytest.raises(UsageError, match="still running"):
        other.do("two")


def test_await(shop: Shop) -> None:
    with Session(tools=shop, model=Model("return 1", "return returned_1 + 1")) as session:

        async def both() -> list[Any]:
            return [(await session.ado(each)).value for each in ("one", "two")]

        assert asyncio.run(both()) == [1, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"verify": lambda value: True}, "no verify"),
        ({"out": "x"}, "name its folder"),
        ({"method": "react"}, "no method"),
        ({"returns": int}, "do.message, returns"),
        ({"nonsense": 1}, "nonsense"),
        ({"variables": {"a b": 1}}, "not the name of a variable"),
        ({"variables": {"f": open}}, "cannot become data"),
    ],
)
def test_what_a_session_does_not_take(start: Start, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        start("return 1", **options).do("one")


def test_a_session_that_was_killed_in_a_turn_says_so(start: Start, tmp_path: Path) -> None:
    script = tmp_path / "killed.py"
    script.write_text(
        "import os, codeplan\n"
        "def stop() -> None:\n    'Stop.'\n    os.kill(os.getpid(), 9)\n"
        "reply = '```python\\ndef solution(agent, start_from=1):\\n    if start_from <= 1:\\n        agent.stop()\\n```'\n"
        f"codeplan.Session(tools=stop, model=lambda m: reply, folder={str(tmp_path / 's')!r}).do('stop')\n"
    )
    assert subprocess.run([sys.executable, script]).returncode == -9

    def stop() -> None:
        """Stop."""

    session = start("return 'next'", tools=stop, in_doubt="retry")
    with pytest.raises(UsageError, match=r"go on there first, with resume\(\)"):
        session.do("next")
    assert isinstance(session.resume().ending, Claimed)
    assert session.do("next").value == "next"
    events = codeplan.Trace.read(session.folder / "trace.jsonl")
    assert [sum(isinstance(e, kind) for e in events) for kind in (CallBegun, CallAnswered)] == [2, 1]


def test_a_later_turn_shows_in_full_what_was_used_and_what_fits(start: Start) -> None:
    def make(name: str) -> Callable[[], str]:
        def tool() -> str:
            return name

        tool.__name__ = tool.__qualname__ = name
        tool.__doc__ = f"Work on {name}.\n\n{'Every detail counts. ' * 15}"
        return tool

    names = [
        f"{a}_{b}" for a in ("red", "green", "blue", "white", "black") for b in ("oak", "ash", "elm", "fir", "yew")
    ]
    session = start("return agent.black_yew()", "return 1", tools=[make(name) for name in names])
    session.do("use the last")
    session.do("now something with green elm")
    first, second = (prompt.partition("class Agent")[2] for prompt in prompts(session))
    assert first.count("def ") == 26
    assert "def black_yew" in second and "def green_elm" in second
    assert "# white_oak() -> str: Work on white_oak." in second and second.count("def ") < 26


def test_a_variable_never_stands_for_a_builtin(start: Start) -> None:
    session = start("max = 3\nreturn max", "return max([1, 2])")
    session.do("keep a maximum")
    assert session.do("the greater one").value == 2


def test_a_forged_trace_is_refused_in_a_sentence(start: Start, shop: Shop, tmp_path: Path) -> None:
    session = start("return 1", "return 2", variables={"x": [1]})
    session.do("one"), session.do("two")
    session.close()
    trace = tmp_path / "s/trace.jsonl"
    whole = trace.read_text()
    for forged in (whole.replace('["list"', '["nothing"', 1), whole.replace('"nodes":[[', '"nodes":[["list",99],[', 1)):
        assert forged != whole
        trace.write_text(forged)
        with pytest.raises(codeplan.CodeplanError) as refused:
            codeplan.replay(tmp_path / "s")
        assert "damaged" in str(refused.value)
