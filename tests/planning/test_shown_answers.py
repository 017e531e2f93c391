"""Prompts have each long answer once: in the log, whole if it is the newest or if the plan printed it."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.boxes import Boxes, Replies
from support.foreign_values import count_steps
from support.order_files import order_environment
from support.tag_marks import without_marks

from codeplan.planning.feedback import (
    MAX_OLDER_CHARS,
    MAX_WHOLE_CHARS,
    MIN_NAMED,
    Exchange,
    LogText,
    ShownAnswers,
    format_log,
)
from codeplan.runner.episodes import run
from codeplan.types import Observation

PAGE = "\n".join(f"row {number}" for number in range(300))
"""An answer that is too long for an older one."""


class Pages(Boxes):
    """Each box holds a long page of its own, under a heading that the agent leaves out."""

    pages = tuple(f"page {n}\n{PAGE}" for n in range(5))

    def step(self, action: str) -> Observation:
        before = super().step(action)
        text = f"You open it. {self.pages[int(action[-1])]}"
        return Observation(text, before.reward, before.done, before.success)


def told(body: str, env: Any = None, **settings: Any) -> dict[str, str]:
    """The parts of the prompt after a plan with this body in its step, by name."""
    plan = "def solution(agent, start_from=1):\n    if start_from <= 1:\n"
    plan += "".join(f"        {line}\n" for line in body.strip().split("\n"))
    model = Replies(plan, plan)
    run(env or Pages(), "ball/3" if env is None else None, model=model, tries=2, **settings)
    text = without_marks(model.asked[-1][1][-1]["content"])
    return dict(re.findall(r"^<(\w+)>\n(.*?)\n</\1>$", text, re.DOTALL | re.MULTILINE))


def test_what_a_plan_printed_is_whole_in_the_log_and_has_a_name_elsewhere() -> None:
    parts = told("""
first, second = agent.open(1), agent.open(2)
print('first:', first)
third = agent.open(4)
assert not first, 'Error: ' + third
""")
    assert parts["printed"] == "first: <answer 1>"
    assert parts["variables"] == "first = <answer 1>\nsecond = <answer 2>\nthird = <answer 3>"
    assert "raised AssertionError: Error: <answer 3>\n" in parts["feedback"]
    log = parts["log"].replace("\n    ", "\n")
    assert Pages.pages[1] in log
    assert Pages.pages[2] not in log
    assert Pages.pages[4] in log
    assert re.search(r"\n    \[[\d,]+ characters left out\]\n3\. open 4", parts["log"])


def test_an_answer_has_its_name_also_in_pythons_notation_and_without_its_first_sentence() -> None:
    parts = told("""
pages = {number: agent.open(number).partition('. ')[2] for number in (1, 2)}
print(pages)
assert not pages
""")
    assert parts["printed"] == "{1: <answer 1>, 2: <answer 2>}"
    assert parts["variables"] == "pages = {1: <answer 1>, 2: <answer 2>}"


def test_a_value_that_the_plan_printed_is_not_repeated() -> None:
    parts = told("""
numbers = [number * number for number in range(40)]
print('squares:', numbers)
few = [1, 2]
print(few)
assert agent.open(1) == ''
""")
    assert "numbers = <as printed>\nfew = [1, 2]" in parts["variables"]


def test_what_does_not_fit_into_the_log_stays_in_what_was_printed() -> None:
    parts = told("""
for number in (0, 1, 2, 4):
    print(agent.open(number))
assert False
""")
    names = re.findall("<answer ([0-9])>", parts["printed"])
    assert names == ["3", "4"]
    assert "You open it. page 0\nrow 0\n" in parts["printed"]


def test_part_of_an_answer_is_no_answer() -> None:
    parts = told("print(agent.open(1)[:200])\nassert False")
    assert parts["printed"].startswith("You open it. page 1\nrow 0")


def test_an_answer_that_comes_several_times_is_shown_where_it_comes_last() -> None:
    parts = told("for number in (1, 2, 1, 2, 1):\n    agent.open(number)\nassert False")
    log = parts["log"]
    assert "1. open 1 -> <answer 5>\n2. open 2 -> <answer 4>\n3. open 1 -> <answer 5>\n4. open 2 -> You open" in log
    assert log.endswith("row 299")


def test_the_newest_answer_is_whole_also_if_a_question_comes_after_it() -> None:
    exchanges = [Exchange(1, 1, "read", PAGE), Exchange(None, 1, f"Text: {PAGE} What is row 7?", "seven " * 200)]
    text = format_log(exchanges, 6_000, 6_000).text
    assert PAGE.replace("\n", "\n    ") in text
    assert "\nask_llm: Text: <answer 1> What is row 7? -> seven seven" in text


def test_calls_of_tools_are_shown_in_python_and_texts_as_they_are() -> None:
    parts = told(
        """
names = agent.list_directory('orders')
info = agent.file_info('orders/03.txt')
try:
    agent.read_file('none.txt')
except Exception:
    info = dict(info)
assert False
""",
        env=order_environment(),
    )
    lines = parts["log"].split("\n")
    assert lines[1:3] == ["1. list_directory(path='orders') -> [FILE] 01.txt", "    [FILE] 02.txt"]
    assert lines[-2] == "2. file_info(path='orders/03.txt') -> {'path': 'orders/03.txt', 'size': 38, 'lines': 1}"
    assert lines[-1] == "3. read_file(path='none.txt') -> raised FileNotFoundError: there is no file none.txt"
    assert "now" not in parts
    assert parts["variables"] == "names = <answer 1>\ninfo = {'path': 'orders/03.txt', 'size': 38, 'lines': 1}"


TEXTS = st.one_of(st.sampled_from([PAGE, "x" * 900, "no", "y" * 50, "z" * 31]), st.text(max_size=90))


@given(st.lists(st.tuples(st.sampled_from("ab"), TEXTS), max_size=30), st.lists(TEXTS, max_size=5))
def test_a_name_stands_only_for_an_answer_that_the_log_shows(pairs: list[tuple[str, str]], output: list[str]) -> None:
    exchanges = [Exchange(number, None, said, answer) for number, (said, answer) in enumerate(pairs, 1)]
    log = format_log(exchanges, 1_000, 2_000, "\n".join(output))
    assert len(log.text) <= 1_000 + 2 * 2_000 + 2_000
    for text in output:
        for number in re.findall(r"<answer (\d+)>", log.whole.name_in(text)):
            answer = exchanges[int(number) - 1].answer
            assert "\n    ".join(answer.strip().splitlines()) in log.text


def test_an_answer_of_thirty_characters_has_a_name_and_a_shorter_one_has_none() -> None:
    assert MIN_NAMED == 30
    assert ShownAnswers([(1, "x" * 30)]).name_in(f"a {'x' * 30}") == "a <answer 1>"
    assert ShownAnswers([(1, "x" * 29)]).name_in("x" * 29) == "x" * 29


def test_answers_below_a_length_stay_and_those_of_that_length_do_not() -> None:
    shown = ShownAnswers([(1, "x" * 40), (2, "y" * 39)])
    assert shown.name_in("x" * 40 + " " + "y" * 39, 40) == "<answer 1> " + "y" * 39
    assert shown.name_in("x" * 40 + " " + "y" * 39) == "<answer 1> <answer 2>"


def test_a_text_that_is_an_answer_and_nothing_more_contains_it() -> None:
    assert ShownAnswers([(1, "x" * 40)]).found_in("x" * 40) == {"<answer 1>"}
    assert ShownAnswers([(1, "x" * 40)]).found_in("x" * 39) == set()


def test_the_answer_of_the_first_exchange_that_is_not_left_out_is_shown() -> None:
    exchanges = [Exchange(n, None, f"read {n}", f"{n} " + "x" * 60) for n in range(1, 9)]
    log = format_log(exchanges, 300, 100)
    first = int(re.findall(r"^(\d)\. read", log.text, re.MULTILINE)[0])
    assert 1 < first < 8
    assert set(log.shown.names.values()) == {f"<answer {n}>" for n in range(first, 9)}


def test_without_an_answer_no_text_changes() -> None:
    assert ShownAnswers().name_in("<answer 1> " + PAGE) == "<answer 1> " + PAGE
    assert format_log([], 10, 10) == LogText()


def test_the_work_is_bounded_however_much_there_is() -> None:
    def steps(count: int) -> int:
        exchanges = [Exchange(n, 1, f"read {n}", f"{n} {PAGE}") for n in range(1, count)]
        printed = "\n".join(e.answer for e in exchanges[-20:])
        log = format_log(exchanges, MAX_OLDER_CHARS, MAX_WHOLE_CHARS, printed)
        return count_steps(lambda: log.whole.name_in(printed))

    assert steps(2_000) < 3 * steps(200)
