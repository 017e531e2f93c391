"""What results, plans, traces and benches look like in a prompt and in a notebook."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import codeplan
import codeplan.recording.events
from codeplan.bench import BenchCell, BenchGrid, BenchOutcome, BenchRecord, EpisodeOutcome
from codeplan.errors import BudgetExceeded
from codeplan.types import (
    Checkpoint,
    Claimed,
    Diagnostic,
    Failed,
    Finished,
    NotSolved,
    Plan,
    Rejected,
    ResourceUsage,
    Result,
    Step,
    Success,
    Task,
    Usage,
)
from codeplan.types.value import MAX_CELL, MAX_ROWS, MAX_SOURCE

EVIL = "<script>alert(1)</script>\x1b[2J\u202e&amp;"
LONG = "x" * 1_000_000
TASK = Task("clean/3", "household", goal="clean a mug")


class ShownTags(HTMLParser):
    """Collects tags and text of a page as a browser reads it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        assert attrs in ([], [("style", "text-align: left")])
        self.tags.append(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


class Shouting:
    """A value of a class that must never speak for itself."""

    def __repr__(self) -> str:
        raise AssertionError("a foreign repr ran")

    __str__ = __repr__


def evil_result() -> Result:
    task = Task(EVIL, EVIL, EVIL)
    value = {EVIL: [EVIL, Shouting()]}
    return Result(task, NotSolved(EVIL), EVIL, EVIL, trace=EVIL, plan=EVIL + LONG, value=value, variables=value)


def evil_outcome() -> Failed:
    return Failed(1, 2, EVIL, EVIL, EVIL + LONG, Checkpoint(dropped={EVIL: EVIL}), {}, ResourceUsage())


def evil_bench() -> BenchRecord:
    cell = BenchCell(EVIL, "s", "e", "m", "scripted")
    outcome = EpisodeOutcome(EVIL, Task("e", EVIL), 0, "", evil_result())
    return BenchRecord(Path(EVIL), BenchGrid((cell,), {"s": (Task("e", EVIL),)}), (outcome,))


HOSTILE = {
    "result": evil_result,
    "outcome": evil_outcome,
    "plan": lambda: Plan(EVIL, (Step(1, 1, 2, EVIL, ""),), warnings=(Diagnostic(1, 1, EVIL, EVIL),)),
    "rejected": lambda: Rejected(EVIL, (Diagnostic(1, 1, EVIL, EVIL),)),
    "execution": lambda: codeplan.Execution(evil_outcome(), evil_result()),
    "bench": evil_bench,
    "bench_outcome": lambda: BenchOutcome(evil_bench(), BudgetExceeded("money", 2.0, 1.0)),
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_hostile_content_is_text_and_nothing_else_in_a_notebook(make) -> None:
    page = ShownTags(make()._repr_html_())
    assert not page.open
    assert "script" not in page.tags
    assert "<script>alert(1)</script>" in page.text
    assert "&amp;" in page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", page.text)


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_hostile_content_takes_one_printable_line_in_a_prompt(make) -> None:
    shown = repr(make())
    assert shown.isprintable()
    assert len(shown) < 1_500


def test_a_result_says_in_a_line_how_the_episode_ended() -> None:
    result = Result(TASK, NotSolved("nothing was cleaned"), actions=3, seconds=1.234, plan=LONG)
    reason = "reason='nothing was cleaned'"
    assert repr(result) == f"Result(success=False, task='household clean/3', {reason}, actions=3, seconds=1.23)"


def test_a_result_shows_a_value_of_none_by_leaving_it_out_and_any_other() -> None:
    assert "value=0" in repr(Result(TASK, Success(), value=0))
    assert "value" not in repr(Result(TASK, Success()))


@pytest.mark.parametrize(
    ("ending", "title"), [(Success(), "✓ Success"), (NotSolved("x"), "✗ Not solved"), (Claimed("x"), "? Claimed")]
)
def test_a_results_page_begins_with_its_ending(ending, title: str) -> None:
    assert ShownTags(Result(TASK, ending)._repr_html_()).text.startswith(title)


def test_a_results_page_says_when_no_language_model_played() -> None:
    assert "not a language model" in Result(TASK, Success(), model="scripted")._repr_html_()
    assert "not a language model" not in Result(TASK, Success(), model="gpt-5")._repr_html_()


def test_pages_are_bounded() -> None:
    result = Result(TASK, Success(), plan="x\n" * 1_000_000, value=[LONG], variables={"a": LONG})
    assert MAX_SOURCE / 20 < len(result._repr_html_()) < MAX_SOURCE + 5 * MAX_CELL


def test_a_plan_is_shown_by_the_titles_of_its_steps() -> None:
    plan = Plan(LONG, (Step(1, 1, 2, "look", ""), Step(2, 3, 4, "take", "")))
    assert repr(plan) == "Plan(steps=['look', 'take'])"


def test_an_outcome_is_shown_without_checkpoints_and_output() -> None:
    ended = Finished(LONG, 2, Checkpoint({"x": 0}, [1]), {}, ResourceUsage(), value=7)
    assert repr(ended) == "Finished(step=2, value=7)"


def test_a_trace_that_was_read_is_a_sequence_with_a_short_repr(tmp_path: Path) -> None:
    codeplan.run("household", "clean/3", out=tmp_path)
    events = codeplan.Trace.read(tmp_path / "trace.jsonl")
    assert events == list(events)
    assert repr(events) == f"<{len(events)} events of a trace>"
    assert all(len(repr(event)) < 800 and repr(event).startswith(type(event).__name__) for event in events)
    page = ShownTags(events._repr_html_())
    assert page.tags.count("tr") == len(events) + 1
    assert "EpisodeStarted" in page.text


def test_a_table_of_events_counts_those_beyond_its_last_row() -> None:
    trace = codeplan.Trace()
    for _ in range(MAX_ROWS):
        trace.append(codeplan.recording.events.WarningIssued(message=EVIL))
    assert "more" not in trace._repr_html_()
    trace.append(codeplan.recording.events.WarningIssued(message=EVIL))
    assert "… and 1 more" in trace._repr_html_()
    assert repr(trace) == f"Trace(path=None, events={MAX_ROWS + 1})"


def test_a_session_is_shown_by_its_turns(tmp_path: Path) -> None:
    def looks(messages: object) -> str:
        return f"```python\ndef solution(agent, start_from=1):\n    if start_from <= 1:\n        return {[EVIL]!r}\n```"

    with codeplan.Session(folder=tmp_path / "run", tools=len, model=looks) as session:
        session.do("Look.")
        session.do(EVIL)
        page = ShownTags(session._repr_html_())
        assert repr(session).isprintable()
    assert page.tags.count("tr") == 3
    assert "script" not in page.tags
    assert page.text.startswith("Session: 2 turns")
    for part in ("Look.", "<script>alert(1)</script>", "nobody verified the result"):
        assert part in page.text


def test_a_bench_counts_what_ended_and_what_was_solved() -> None:
    cell, tasks = BenchCell("c", "s", "e", "m", "scripted"), (Task("e", "1"), Task("e", "2"), Task("e", "3"))
    ended = EpisodeOutcome("c", tasks[0], 0, "", Result(tasks[0], Success()))
    broken = EpisodeOutcome("c", tasks[1], 0, "", Result(tasks[1], NotSolved("x")), broken=True)
    bench = BenchRecord(Path("runs/b"), BenchGrid((cell,), {"s": tasks}), (ended, broken))
    assert repr(bench) == "BenchRecord(folder='runs/b', cells=['c'], ended=1, total=3)"
    assert "Bench: 1 of 3 episodes ended" in bench._repr_html_()


def test_a_bench_shows_no_money_for_a_cell_of_which_a_part_is_unknown() -> None:
    tasks = (Task("1"), Task("2"))
    cells = (BenchCell("known", "s", "e", "m", "gpt"), BenchCell("partly", "s", "e", "m", "gpt"))
    spent = {"known": (0.25, 0.5), "partly": (0.25, None)}
    ended = tuple(
        EpisodeOutcome(name, task, 0, "", Result(task, Success(), model_calls=1, usage=Usage(1, 1, money=money)))
        for name, costs in spent.items()
        for task, money in zip(tasks, costs, strict=True)
    )
    shown = BenchRecord(Path("b"), BenchGrid(cells, {"s": tasks}), ended)._repr_html_()
    assert "known22$0.75partly22–" in ShownTags(shown).text
