"""A worker that lies costs its own plan a try. It misleads nobody, fills nothing, and raises nothing."""

from __future__ import annotations

import re
import time

import msgspec
import pytest
from support.caged import SampleHome, finished, plan, run
from support.lying_worker import Lie, as_bytes, framed, lie_to_analysis, lie_to_check, lie_to_run

from codeplan.errors import SandboxError
from codeplan.sandbox import Limits, Sandbox, encode
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.codec import MAX_DROPPED_BYTES
from codeplan.sandbox.protocol.frames import DiagnosticRow, PlanRow, StepRow
from codeplan.sandbox.protocol.limits import ENTRY_CHECKPOINTS_FACTOR, MAX_ARCS
from codeplan.types import Checkpoint, Failed, Finished, Plan, Rejected, Replan, Step, Stopped

SOURCE = "\n".join(f"line {k}" for k in range(1, 9))
DIGEST = "0123456789abcdef"
TABLE = frames.CheckpointTable.from_checkpoint(encode({"x": 1}, 1_000))
START = frames.StartFrame()
END = frames.EndFrame("finished", None, None, "", "", 0, 0.1, TABLE)
PLAN = Plan(SOURCE, tuple(Step(k, 2 * k, 2 * k, f"title {k}", DIGEST) for k in (1, 2, 3)))
GROWING = Plan(SOURCE, (Step(1, 2, 3, "", DIGEST, replan_line=3), Step(2, 4, 6, "", DIGEST)))  # step 1 ends in a replan


def step(
    number: int = 1,
    line: int = 1,
    end_line: int = 1,
    title: str = "t",
    digest: str = DIGEST,
    replan_line: object = None,
    **names,
) -> StepRow:
    return StepRow(number, line, end_line, title, digest, names.get("needs", ()), names.get("sets", ()), replan_line)


def accept(*steps: object, source: str = SOURCE, provides: object = (), code: object = b"", **names) -> bytes:
    """An answer to a check, without any of the caps that a correct worker keeps."""
    kept = [[], None, names.get("needs", ()), names.get("kept", ())] if names else []
    return framed(msgspec.msgpack.encode(["AcceptanceFrame", [source, steps, provides, *kept], code]))


def reject(*rows: object) -> bytes:
    return framed(msgspec.msgpack.encode(["RejectionFrame", rows]))


CHECK_LIES: dict[str, Lie] = {
    "a hundred titles of 10 kB": accept(*(step(k, k, k, "x" * 10_000) for k in range(1, 101))),
    "a title of 201 characters": accept(step(title="x" * 201)),
    "overlapping steps": accept(step(1, 1, 4), step(2, 4, 5)),
    "a digest with a line end": accept(step(digest=DIGEST + "\n")),
    "a digest of other letters": accept(step(digest="g" * 16)),
    "a need that is no identifier": accept(step(needs=("a b",))),
    "a need of the end that is no identifier": accept(needs=("a b",)),
    "a kept name that the host did not send": accept(step(needs=("b_2",)), kept=("b_2",)),
    "a kept name that is no identifier": accept(kept=("a.b",)),
    "provided names that are no text": accept(provides=(1, 2)),
    "a replan before the step": accept(step(1, 2, 3, replan_line=1)),
    "a replan behind the step": accept(step(1, 2, 3, replan_line=4)),
    "a replan on a line of text": accept(step(1, 2, 3, replan_line="2")),
    "another source": accept(source="print('another plan')"),
    "code that is text": accept(code="x"),
    "no steps but a map": framed(msgspec.msgpack.encode(["AcceptanceFrame", [SOURCE, {1: 2}, []], b""])),
    "a rule with a control code": reject(DiagnosticRow(1, 1, "\x1b[2J", "no")),
    "a reason behind the source": reject(DiagnosticRow(10, 1, "size", "no")),
    "half a surrogate pair": framed(b"\x92\xaeRejectionFrame\x91\x94\x01\x01\xa4size\xa3\xed\xa0\x80"),
    "an end of a run": END,
    "an analysis": frames.Analysis(b"[]"),
    "a frame of a host": frames.ResultFrame("yes"),
    "an unknown tag": framed(msgspec.msgpack.encode(["SurrenderFrame", 1])),
    "a tag of 900 kB with escape codes": framed(msgspec.msgpack.encode(["\x1b[2J\n" * 150_000])),
    "a number as the tag": framed(msgspec.msgpack.encode([7])),
    "a frame of 1.3 MB of nothing": framed(b"\xdd\x00\x14\x00\x00" + b"\xc0" * 0x140000),
    "a frame that claims 4 GB": b"\xff\xff\xff\xff",
    "lists 10,000 deep": framed(b"\x91" * 10_000),
}


@pytest.mark.parametrize("lie", CHECK_LIES.values(), ids=CHECK_LIES)
def test_a_check_whose_worker_lies_is_a_refusal(lie: Lie):
    found = lie_to_check(SOURCE, lie)
    assert isinstance(found, Rejected)
    assert [d.rule for d in found.diagnostics] == ["worker"]
    assert len(msgspec.json.encode(found)) < 2_000
    assert found.diagnostics[0].message.isprintable()


@pytest.mark.parametrize("half", [b"\x00", as_bytes(accept(step()))[:-20], b""])
def test_a_check_whose_worker_falls_silent_or_drips_ends_at_the_deadline(half: bytes):
    began = time.monotonic()
    found = lie_to_check(SOURCE, half, *[b"\x00", 0.1] * 12, hang_up=False)
    assert isinstance(found, Rejected)
    assert time.monotonic() - began < 3


def test_a_kept_name_is_believed_only_if_the_next_run_starts_with_it():
    lie = accept(step(needs=("sent",)), kept=("sent",))
    assert isinstance(lie_to_check(SOURCE, lie, kept=("sent", "other")), Plan)
    for sent in ({"kept": ("other",)}, {"kept": ("sent",), "starts_over": True}):
        found = lie_to_check(SOURCE, lie, **sent)
        assert isinstance(found, Rejected)
        assert "a variable that no run before has kept" in found.diagnostics[0].message


def test_an_honest_answer_with_the_same_bytes_is_a_plan():
    found = lie_to_check(SOURCE, accept(step(1, 1, 2, needs=("é", "b_2")), step(2, 3, 8), provides=("c",)), accept())
    assert isinstance(found, Plan)
    assert [s.needs for s in found.steps] == [("é", "b_2"), ()]


# ------------------------------------------------------------------ runs


def enter(number: int) -> frames.StepFrame:
    return frames.StepFrame(number, TABLE)


def begin(number: int, method: str = "report") -> frames.BeginFrame:
    return frames.BeginFrame(number, method, [], {})


def raw(tag: str, *fields: object) -> bytes:
    return framed(msgspec.msgpack.encode([tag, *fields]))


def end(**changes: object) -> bytes:
    return as_bytes(msgspec.structs.replace(END, **changes))


def nested(depth: int) -> bytes:
    return framed(b"\x94\xa9CallFrame\xa4goto\x91" + b"\x91" * depth + b"\xc0\x80")


def table(names: object, nodes: object, dropped: object = {}) -> bytes:  # never changed
    return raw("StepFrame", 1, [names, nodes, dropped])


RUN_LIES: dict[str, tuple[Lie, ...]] = {
    "a refusal of checked code": (frames.RejectionFrame([DiagnosticRow(1, 1, "size", "no")]),),
    "a damaged checkpoint that there is not": (frames.CheckpointErrorFrame("gone"),),
    "an end before the start": (END,),
    "two starts": (START, START),
    "a call that begins as number 2": (START, begin(2)),
    "a call that begins twice": (START, begin(1), begin(1)),
    "a call that begins as number 0": (START, raw("BeginFrame", 0, "report", [], {})),
    "a call of a private method that begins": (START, begin(1, "_secret")),
    "a wait for nothing": (START, frames.WaitFrame(None)),
    "a wait for a negative time": (START, begin(1), raw("WaitFrame", -1.0)),
    "a wait for NaN": (START, begin(1), raw("WaitFrame", float("nan"))),
    "a wait without end": (START, begin(1), raw("WaitFrame", 1e7)),
    "a second wait for the only call": (START, begin(1), frames.WaitFrame(None), frames.WaitFrame(None)),
    "the cancellation of an unknown call": (START, begin(1), frames.CancelFrame(2)),
    "the cancellation of an answered call": (START, begin(1), frames.WaitFrame(None), frames.CancelFrame(1)),
    "a call that waits beside an open one": (START, begin(1), frames.CallFrame("goto", ["desk 1"], {})),
    "a step beside an open call": (START, begin(1), enter(1)),
    "an answer of its own": (START, begin(1), frames.AnswerFrame(1, 0.0, "yes")),
    "a call that begins on a line that there is not": (START, msgspec.structs.replace(begin(1), line=9)),
    "the same step again": (START, enter(1), enter(1)),
    "step 0": (START, enter(0)),
    "a step that the plan does not have": (START, enter(4)),
    "a step of 2**64": (START, raw("StepFrame", 2**64 - 1, TABLE)),
    "coverage unasked": (START, frames.CoverageFrame([(0, 1)])),
    "an end in a step never entered": (START, enter(1), end(step=2)),
    "an end with a NaN of processor time": (START, end(cpu=float("nan"))),
    "an end with negative processor time": (START, end(cpu=-1.0)),
    "an end by the limit of checkpoints": (START, end(status="stopped", error="checkpoint_bytes")),
    "an end by an attribute": (START, end(status="stopped", error="__class__")),
    "an end with a long error name": (START, end(status="failed", error="E" * 201)),
    "an end with a long message": (START, end(status="failed", error="E", message="x" * 8_101)),
    "an end by an unknown status": (START, end(status="success")),
    "a replan with a long reason": (START, end(status="replan", message="x" * 8_101)),
    "a replan without variables": (START, end(status="replan", table=None)),
    "a replan in a step never entered": (START, enter(1), end(status="replan", step=2)),
    "a replan that ends a step which none ends": (
        START,
        enter(1),
        end(status="replan", step=1, line=2, step_done=True),
    ),
    "a replan that ends no step": (START, enter(1), end(status="replan", step=None, line=2, step_done=True)),
    "a step that is done by an assertion": (START, enter(1), end(status="failed", error="E", step=1, step_done=True)),
    "a step that is half done": (START, enter(1), end(status="replan", step=1, step_done=1)),
    "a failure in a step of no plan": (START, end(status="failed", error="E", step=7)),
    "a failure without a checkpoint": (START, end(status="failed", error="E", table=None)),
    "a return that refers beyond itself": (START, end(returned=frames.CheckpointTable({"return": 5}, [1], {}))),
    "a return under another name": (START, end(returned=TABLE)),
    "a call of a private name": (START, frames.CallFrame("_reset", [], {})),
    "a call of a long name": (START, frames.CallFrame("goto" * 51, [], {})),
    "a call with a long argument name": (START, frames.CallFrame("goto", [], {"k" * 201: 1})),
    "a call with 20,001 arguments": (START, frames.CallFrame("goto", [None] * 20_001, {})),
    "a call nested 33 deep": (START, nested(33)),
    "a call nested 10,000 deep": (START, nested(10_000)),
    "a call with half a surrogate pair by name": (START, frames.CallFrame("goto", [], {"k": ["text", "eda080"]})),
    "a call with half a surrogate pair": (START, framed(b"\x94\xa9CallFrame\xa4goto\x91\xa3\xed\xa0\x80\x80")),
    "a call of line 0": (START, frames.CallFrame("goto", [], {}, 0)),
    "a call of a line that the plan does not have": (START, frames.CallFrame("goto", ["x"], {}, 1_000)),
    "a call of a line that is no number": (START, frames.CallFrame("goto", ["x"], {}, "1")),
    "a read of a private name": (START, frames.ReadFrame("__dict__")),
    "a read of nothing": (START, frames.ReadFrame("")),
    "an answer of the host": (START, frames.ResultFrame("yes")),
    "a table that refers beyond itself": (START, table({"x": 0}, [["list", 1]])),
    "a table whose tuple holds itself": (START, table({"x": 0}, [["tuple", 0]])),
    "a table with a name beyond it": (START, table({"x": 1}, [1])),
    "a table of 50,001 values": (START, table({}, [0] * 50_001)),
    "a table of 1,001 names": (START, table({f"n{i}": 0 for i in range(1_001)}, [0])),
    "a table with a NaN": (START, table({"x": 0}, [float("nan")])),
    "a table with a number of 2**53": (START, table({"x": 0}, [2**53])),
    "a table with an odd deque": (START, table({"x": 0}, [["deque:-1", 0]])),
    "an unknown tag": (START, raw("PardonFrame")),
    "a long tag with escape codes": (START, raw("\x1b[2J\n" * 9_000)),
    "an empty output": (START, frames.OutputFrame("")),
    "output of bytes": (START, raw("OutputFrame", b"x")),
    "one field too many": (START, raw("OutputFrame", "x", "y")),
    "a frame of 1.2 MB of nothing": (START, framed(b"\xdd\x00\x12\x00\x00" + b"\xc0" * 0x120000)),
    "a frame that claims 4 GB": (START, b"\xff\xff\xff\xff"),
}


@pytest.mark.parametrize("lies", RUN_LIES.values(), ids=RUN_LIES)
def test_a_run_whose_worker_lies_is_stopped(lies: tuple[Lie, ...]):
    home = SampleHome(lambda action: None)
    outcome = lie_to_run(PLAN, *lies, home=home)
    assert isinstance(outcome, Stopped)
    assert outcome.limit == "worker"
    assert outcome.message.startswith("the worker broke the protocol: ")
    assert outcome.message.isprintable()
    assert home.history == []
    assert len(msgspec.json.encode(outcome)) < 5_000


def test_no_more_than_a_thousand_calls_are_open():
    limits = Limits(wall=30.0, calls=5_000)
    most = [begin(n) for n in range(1, frames.MAX_OPEN_CALLS + 1)]
    outcome = lie_to_run(PLAN, START, *most, begin(frames.MAX_OPEN_CALLS + 1), limits=limits)
    assert isinstance(outcome, Stopped)
    assert outcome.message == "the worker broke the protocol: more than 1,000 calls are open"
    more = begin(frames.MAX_OPEN_CALLS + 1)
    assert isinstance(lie_to_run(PLAN, START, *most, frames.WaitFrame(None), more, END, limits=limits), Finished)


@pytest.mark.parametrize(
    ("entered", "claim"),
    [
        (1, {"step": 1, "line": 2}),
        (1, {"step": 1, "line": None}),
        (1, {"step": None, "line": 3}),
        (2, {"step": 2, "line": 3}),
        (2, {"step": 2, "line": 6}),
        (1, {"step": 1, "line": 3, "status": "give_up"}),
        (1, {"step": 1, "line": 3, "status": "finished"}),
    ],
)
def test_a_worker_claims_a_done_step_only_where_a_replan_ends_it(entered: int, claim: dict[str, object]):
    outcome = lie_to_run(GROWING, START, enter(entered), end(**{"status": "replan", "step_done": True} | claim))
    assert isinstance(outcome, Stopped)
    assert outcome.message == "the worker broke the protocol: it ended with a replan that is not at its step's end"


def test_a_worker_that_keeps_to_the_plan_may_say_that_a_step_is_done():
    ended = end(status="replan", step=1, line=3, step_done=True, message="seen")
    outcome = lie_to_run(GROWING, START, enter(1), ended)
    assert isinstance(outcome, Replan)
    assert (outcome.step, outcome.line, outcome.reason, outcome.step_done) == (1, 3, "seen", True)


def test_nothing_after_the_end_counts():
    home = SampleHome(lambda action: None)
    lies = (START, enter(1), END, END, frames.CallFrame("goto", ["x"], {}), enter(2), end(status="failed"))
    outcome = lie_to_run(PLAN, *lies, home=home)
    assert isinstance(outcome, Finished)
    assert (outcome.step, home.history) == (1, [])


def test_a_run_does_not_enter_a_step_before_the_one_that_it_starts_from():
    outcome = lie_to_run(PLAN, START, enter(2), END, start_from=3)
    assert isinstance(outcome, Stopped)
    assert "the run starts from step 3" in outcome.message
    assert isinstance(lie_to_run(PLAN, START, enter(3), END, start_from=3), Finished)


def test_a_worker_may_refuse_a_text_that_it_had_to_compile_and_names_its_lines():
    def refuse(line: int) -> object:
        return lie_to_run(PLAN, frames.RejectionFrame([DiagnosticRow(line, 1, "size", "no")]), code=b"")

    assert isinstance(refuse(8), Rejected)
    assert isinstance(refuse(99), Stopped)


def test_duplicate_names_in_a_table_are_one_variable():
    twice = framed(b"\x93\xa9StepFrame\x01\x93\x82\xa1x\x00\xa1x\x01\x92\x01\x02\x80")
    outcome = lie_to_run(PLAN, START, twice, END)
    assert isinstance(outcome, Finished)
    assert outcome.entries[1] == Checkpoint({"x": 1}, [1, 2])


def test_a_flood_of_tiny_frames_ends_at_the_limit_of_what_a_plan_may_print():
    outcome = lie_to_run(PLAN, START, as_bytes(frames.OutputFrame("x")) * 70_000)
    assert isinstance(outcome, Stopped)
    assert outcome.limit in ("output", "wall")
    assert len(outcome.output) <= 64_000


@pytest.mark.parametrize("hang_up", [True, False])
def test_a_run_whose_worker_drips_ends_in_time(hang_up: bool):
    began = time.monotonic()
    drip = [lie for byte in as_bytes(END) for lie in (bytes([byte]), 0.05)]
    outcome = lie_to_run(PLAN, START, *drip[:40], hang_up=hang_up)
    assert isinstance(outcome, Stopped)
    assert outcome.limit in ("worker", "wall")
    assert time.monotonic() - began < 4


PATIENT = Limits(wall=30.0)  # for lies whose size matters, not their time
LONG_SOURCE = "\n".join(f"line {k}" for k in range(1, 41))
LONG_PLAN = Plan(LONG_SOURCE, tuple(Step(k, k, k, "", DIGEST) for k in range(1, 41)))


def bulky(nbytes: int) -> frames.CheckpointTable:
    """A checkpoint of one text that packs into exactly this many bytes."""
    around = frames.packed_size(frames.CheckpointTable.from_checkpoint(Checkpoint({"x": 0}, ["x" * 70_000]))) - 70_000
    found = frames.CheckpointTable.from_checkpoint(Checkpoint({"x": 0}, ["x" * (nbytes - around)]))
    assert frames.packed_size(found) == nbytes
    return found


ALL_ENTRIES = ENTRY_CHECKPOINTS_FACTOR * PATIENT.checkpoint_bytes + (
    1 << 20
)  # what the host takes of all entries together
ONE_ENTRY = PATIENT.checkpoint_bytes + MAX_DROPPED_BYTES + (4 << 10)  # what it takes of one


@pytest.mark.parametrize(("more", "kind"), [(0, Finished), (1, Stopped)])
def test_the_checkpoints_of_all_steps_together_are_limited(more: int, kind: type):
    sizes = [ALL_ENTRIES // 20] * 19
    sizes.append(ALL_ENTRIES - sum(sizes) + more)
    entries = [frames.StepFrame(k, bulky(size)) for k, size in enumerate(sizes, start=1)]
    outcome = lie_to_run(LONG_PLAN, START, *entries, END, limits=PATIENT)
    assert type(outcome) is kind
    if isinstance(outcome, Stopped):
        assert outcome.message == "the worker broke the protocol: the checkpoints are larger than they may be"
        assert [*outcome.entries] == [*range(1, 20)]


@pytest.mark.parametrize(("more", "kind"), [(0, Finished), (1, Stopped)])
def test_one_checkpoint_is_limited(more: int, kind: type):
    outcome = lie_to_run(LONG_PLAN, START, frames.StepFrame(1, bulky(ONE_ENTRY + more)), END, limits=PATIENT)
    assert type(outcome) is kind
    if isinstance(outcome, Stopped):
        assert outcome.message == "the worker broke the protocol: a checkpoint is larger than it may be"


@pytest.mark.parametrize(
    ("arcs", "kind"),
    [
        ([[(0, 1), (1, 8), (8, 0)]], Finished),  # the plan has eight lines
        ([[(8, 9)]], Stopped),
        ([[(9, 8)]], Stopped),
        ([[(-1, 2)]], Stopped),
        ([[]], Stopped),
        ([[(0, 1)] * (MAX_ARCS - 1), [(1, 2)]], Finished),
        ([[(0, 1)] * (MAX_ARCS - 1), [(1, 2), (2, 3)]], Stopped),
    ],
    ids=[
        "all lines",
        "a line too many",
        "from a line too many",
        "from before all",
        "no arc",
        "all arcs",
        "an arc too many",
    ],
)
def test_coverage_is_of_lines_that_the_plan_has(arcs: list[list[tuple[int, int]]], kind: type):
    told: list[object] = []
    reports = [frames.CoverageFrame(some) for some in arcs]
    outcome = lie_to_run(PLAN, START, *reports, END, limits=PATIENT, on_coverage=told.append)
    assert type(outcome) is kind
    assert len(told) == len(arcs) - (kind is Stopped)


@pytest.mark.parametrize(("line", "shown"), [(0, None), (1, 1), (8, 8), (9, None)])
def test_a_line_beyond_the_plan_is_not_shown(line: int, shown: int | None):
    ended = end(status="failed", error="E", step=1, line=line)
    outcome = lie_to_run(PLAN, START, enter(1), ended)
    assert isinstance(outcome, Failed)
    assert outcome.line == shown


# ------------------------------------------------------------------ analyses

ANALYSIS_LIES: dict[str, Lie] = {
    "findings of 2 MB and a byte": frames.Analysis(b"[" + b" " * (2 << 20) + b"]"),
    "findings 10,000 deep": frames.Analysis(b"[" * 10_000 + b"]" * 10_000),
    "findings 65 deep": frames.Analysis(b"[" * 65 + b"]" * 65),
    "findings of 200,001 values": frames.Analysis(b"[" + b"0," * 200_000 + b"0]"),
    "a number with 400 digits": frames.Analysis(b"[" + b"9" * 400 + b"]"),
    "endless numbers": frames.Analysis(b"[1e999]"),
    "half a surrogate pair": frames.Analysis(b'["\\ud800"]'),
    "no JSON": frames.Analysis(b"\xff\xfe"),
    "a long failure": frames.AnalysisFailed("x" * 8_101, invalid_job=False),
    "a failure with escape codes": frames.AnalysisFailed("\x1b[2J\n" * 900, invalid_job=False),
    "a failure that is a number": raw("AnalysisFailed", 7, False),
    "an acceptance": frames.AcceptanceFrame(PlanRow(SOURCE, [], ()), b""),
    "an end": END,
    "a frame of 4 GB": b"\xff\xff\xff\xff",
}


@pytest.mark.parametrize("lie", ANALYSIS_LIES.values(), ids=ANALYSIS_LIES)
def test_an_analysis_whose_worker_lies_is_one_clear_error(lie: Lie):
    with pytest.raises(SandboxError, match=r"^the analysis 'literals' (broke the protocol|returned|failed)") as caught:
        lie_to_analysis(lie)
    assert len(str(caught.value)) < 9_000
    assert str(caught.value).isprintable()


# ------------------------------------------------------------------ what honest workers keep to


def steps_of(count: int, body: str = "assert True") -> str:
    return plan("\n".join(f"if start_from <= {k}:\n    {body}" for k in range(1, count + 1)))


def test_a_plan_may_have_a_thousand_steps_and_no_more():
    found = Sandbox().check(steps_of(1_000), SampleHome)
    assert isinstance(found, Plan)
    assert len(found.steps) == 1_000
    more = Sandbox().check(steps_of(1_001), SampleHome)
    assert isinstance(more, Rejected)
    assert "1,001 steps; write at most 1,000" in more.diagnostics[0].message


def test_long_titles_are_cut_and_surrogates_in_them_are_escaped():
    body = "print('[Step 1] ' + '')\n    print('[Step 1] {}')\n    assert True"
    long, odd = (Sandbox().check(steps_of(1, body.format(t)), SampleHome) for t in ("x" * 500, "\\ud800"))
    assert isinstance(long, Plan)
    assert long.steps[0].title == "x" * 199 + "…"
    assert isinstance(odd, Plan)
    assert odd.steps[0].title == "\\ud800"


def test_names_of_a_plan_have_at_most_200_characters():
    assert isinstance(Sandbox().check(steps_of(1, f"{'n' * 200} = 1\n    assert True"), SampleHome), Plan)
    found = Sandbox().check(steps_of(1, f"{'n' * 201} = 1\n    assert True"), SampleHome)
    assert isinstance(found, Rejected)
    assert "has 201 characters; use at most 200" in found.diagnostics[0].message


def test_names_that_many_steps_share_are_limited_together():
    shared = ", ".join(f"name_of_a_thing_{i}" for i in range(500))
    first = f"if start_from <= 1:\n    [{shared}] = range(500)\n    assert True"
    rest = "\n".join(f"if start_from <= {k}:\n    assert h()" for k in range(2, 200))
    found = Sandbox().check(plan(f"def h():\n    return [{shared}]\n{first}\n{rest}"), SampleHome)
    assert isinstance(found, Rejected)
    message = found.diagnostics[0].message
    size = re.fullmatch(r"the names in all steps take ([\d,]+) bytes, more than 1,048,576; use .*", message)
    assert size
    assert int(size[1].replace(",", "")) > 2**20


@pytest.mark.parametrize("arguments", ["**{'k' * 201: 1}", "**{'': 1}", "*range(20_001)"])
def test_a_call_that_no_frame_can_carry_is_an_error_of_the_plan(arguments: str):
    body = f"try:\n    agent.goto({arguments})\nexcept TypeError as error:\n    print(error)"
    assert "goto was given" in finished(run(body, call_bytes=10**6)).output


@pytest.mark.parametrize("line_end", ["\r", "\r\n"])
def test_plans_with_other_line_ends_are_accepted(line_end: str):
    source = steps_of(3).replace("\n", line_end)
    found = Sandbox().check(source, SampleHome)
    assert isinstance(found, Plan)
    assert isinstance(Sandbox().run(found, SampleHome(lambda action: None), str), Finished)
