"""What a check worker may say about a source: each cap and each condition on both of its sides, as frames on the wire."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from support.lying_worker import as_bytes

from codeplan.sandbox.host.plan_texts import count_lines, verified_plan, verified_rejection
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.frames import (
    MAX_POSITION,
    MAX_STEP_NAMES,
    DiagnosticRow,
    PlanRow,
    ProtocolError,
    StepRow,
    diagnostic_rows,
)
from codeplan.sandbox.protocol.limits import (
    MAX_CODE_BYTES,
    MAX_DIAGNOSTIC_CHARS,
    MAX_DIAGNOSTICS,
    MAX_NAME_CHARS,
    MAX_STEPS,
)
from codeplan.types import Diagnostic, Plan, Step

DIGEST = "0123456789abcdef"


def step(
    number: Any = 1,
    line: Any = 1,
    end: Any = 1,
    title: Any = "t",
    digest: Any = DIGEST,
    needs: Any = (),
    sets: Any = (),
) -> list[Any]:
    return [number, line, end, title, digest, needs, sets]


def plan_row(*steps: object, source: object = "x", provides: object = (), rest: tuple[object, ...] = ()) -> bytes:
    return msgspec.msgpack.encode([source, steps, provides, *rest])


def is_row(packed: bytes) -> bool:
    try:
        msgspec.msgpack.decode(packed, type=PlanRow)
    except msgspec.ValidationError:
        return False
    return True


WITHIN_OR_BEYOND: dict[str, tuple[bytes, bytes]] = {
    "steps": (plan_row(*(step(k) for k in range(1, MAX_STEPS + 1))), plan_row(*[step()] * (MAX_STEPS + 1))),
    "the largest number of a step": (plan_row(step(MAX_STEPS)), plan_row(step(MAX_STEPS + 1))),
    "the smallest number of a step": (plan_row(step(1)), plan_row(step(0))),
    "the first line": (plan_row(step(1, 1, 1)), plan_row(step(1, 0, 1))),
    "the first end": (plan_row(step(1, 1, 1)), plan_row(step(1, 1, 0))),
    "the last line": (plan_row(step(1, MAX_POSITION)), plan_row(step(1, MAX_POSITION + 1))),
    "the last end": (plan_row(step(1, 1, MAX_POSITION)), plan_row(step(1, 1, MAX_POSITION + 1))),
    "a title": (plan_row(step(title="x" * MAX_NAME_CHARS)), plan_row(step(title="x" * (MAX_NAME_CHARS + 1)))),
    "an empty title": (plan_row(step(title="")), plan_row(step(title=None))),
    "a long digest": (plan_row(step(digest=DIGEST)), plan_row(step(digest=DIGEST + "0"))),
    "a short digest": (plan_row(step(digest=DIGEST)), plan_row(step(digest=DIGEST[1:]))),
    "a capital digest": (plan_row(step(digest=DIGEST)), plan_row(step(digest=DIGEST.upper()))),
    "a need's length": (plan_row(step(needs=["n" * 200])), plan_row(step(needs=["n" * 201]))),
    "a set name's length": (plan_row(step(sets=["n" * 200])), plan_row(step(sets=["n" * 201]))),
    "a short name": (plan_row(step(needs=["n"])), plan_row(step(needs=[""]))),
    "needs": (plan_row(step(needs=["n"] * MAX_STEP_NAMES)), plan_row(step(needs=["n"] * (MAX_STEP_NAMES + 1)))),
    "set names": (plan_row(step(sets=["n"] * MAX_STEP_NAMES)), plan_row(step(sets=["n"] * (MAX_STEP_NAMES + 1)))),
    "provided names": (plan_row(provides=["n"] * MAX_STEP_NAMES), plan_row(provides=["n"] * (MAX_STEP_NAMES + 1))),
    "warnings": (
        plan_row(rest=([[1, 1, "size", "w"]] * MAX_DIAGNOSTICS,)),
        plan_row(rest=([[1, 1, "size", "w"]] * (MAX_DIAGNOSTICS + 1),)),
    ),
    "the first start": (plan_row(rest=([], 2)), plan_row(rest=([], 1))),
    "the last start": (plan_row(rest=([], MAX_STEPS)), plan_row(rest=([], MAX_STEPS + 1))),
    "fields of a plan": (plan_row(rest=([], None)), plan_row(rest=([], None, 1))),
    "the first line of a replan": (plan_row([*step(), 1]), plan_row([*step(), 0])),
    "the last line of a replan": (plan_row([*step(), MAX_POSITION]), plan_row([*step(), MAX_POSITION + 1])),
    "fields of a step": (plan_row([*step(), None]), plan_row([*step(), None, 1])),
}


@pytest.mark.parametrize(("within", "beyond"), WITHIN_OR_BEYOND.values(), ids=WITHIN_OR_BEYOND)
def test_a_cap_of_a_plan_holds_exactly(within: bytes, beyond: bytes) -> None:
    assert is_row(within)
    assert not is_row(beyond)


REASONS: dict[str, tuple[list[object], list[object]]] = {
    "a line": ([0, 1, "size", "m"], [-1, 1, "size", "m"]),
    "a last line": ([MAX_POSITION, 1, "size", "m"], [MAX_POSITION + 1, 1, "size", "m"]),
    "a column": ([1, 0, "size", "m"], [1, -1, "size", "m"]),
    "a last column": ([1, MAX_POSITION, "size", "m"], [1, MAX_POSITION + 1, "size", "m"]),
    "a long rule": ([1, 1, "r" * 50, "m"], [1, 1, "r" * 51, "m"]),
    "a short rule": ([1, 1, "r", "m"], [1, 1, "", "m"]),
    "a rule's letters": ([1, 1, "a-b", "m"], [1, 1, "-ab", "m"]),
    "a rule's end": ([1, 1, "rule", "m"], [1, 1, "rule\n", "m"]),
    "a long message": ([1, 1, "r", "m" * MAX_DIAGNOSTIC_CHARS], [1, 1, "r", "m" * (MAX_DIAGNOSTIC_CHARS + 1)]),
    "a short message": ([1, 1, "r", "m"], [1, 1, "r", ""]),
    "fields": ([1, 1, "r", "m"], [1, 1, "r", "m", 1]),
}


@pytest.mark.parametrize(("within", "beyond"), REASONS.values(), ids=REASONS)
def test_a_cap_of_a_reason_holds_exactly(within: list[object], beyond: list[object]) -> None:
    row = msgspec.convert(within, DiagnosticRow)
    assert msgspec.to_builtins(row) == within
    assert row.to_diagnostic() == Diagnostic(*within)  # type: ignore[arg-type]
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(beyond, DiagnosticRow)


@pytest.mark.parametrize(
    ("count", "fits"), [(0, False), (1, True), (MAX_DIAGNOSTICS, True), (MAX_DIAGNOSTICS + 1, False)]
)
def test_a_refusal_has_one_to_a_hundred_reasons(count: int, fits: bool) -> None:
    packed = as_bytes(frames.RejectionFrame([DiagnosticRow(1, 1, "size", "m")] * count))[frames.HEADER_BYTES :]
    if fits:
        assert len(msgspec.msgpack.decode(packed, type=frames.RejectionFrame).diagnostics) == count
    else:
        with pytest.raises(msgspec.ValidationError):
            msgspec.msgpack.decode(packed, type=frames.RejectionFrame)


def test_compiled_code_has_a_largest_size() -> None:
    for more, fits in ((0, True), (1, False)):
        frame = frames.AcceptanceFrame(PlanRow("x", [], ()), b"c" * (MAX_CODE_BYTES + more))
        packed = as_bytes(frame)[frames.HEADER_BYTES :]
        if fits:
            assert msgspec.msgpack.decode(packed, type=frames.AcceptanceFrame) == frame
        else:
            with pytest.raises(msgspec.ValidationError):
                msgspec.msgpack.decode(packed, type=frames.AcceptanceFrame)


# ------------------------------------------------------------------ the rows that a correct worker makes


@pytest.mark.parametrize("missing", [0, 1, 50])
def test_of_more_than_a_hundred_reasons_the_last_counts_the_missing_ones(missing: int) -> None:
    rows = diagnostic_rows(Diagnostic(n, 1, "name", f"reason {n}") for n in range(1, MAX_DIAGNOSTICS + missing + 1))
    assert len(rows) == MAX_DIAGNOSTICS
    assert [row.line for row in rows[:-1]] == list(range(1, MAX_DIAGNOSTICS))
    if missing:
        message = f"the plan has {missing + 1} more problems; write it shorter and simpler"
        assert rows[-1] == DiagnosticRow(0, 0, "size", message)
    else:
        assert rows[-1].message == f"reason {MAX_DIAGNOSTICS}"
    assert diagnostic_rows([]) == []


def test_a_long_message_is_cut_and_fits_its_cap_with_its_mark() -> None:
    for length, shown in ((950, "x" * 950), (951, "x" * 950 + "… (1 more character)")):
        (row,) = diagnostic_rows([Diagnostic(1, 1, "size", "x" * length)])
        assert row.message == shown
    (row,) = diagnostic_rows([Diagnostic(1, 1, "size", "x" * 10**7)])
    assert msgspec.convert(msgspec.to_builtins(row), DiagnosticRow) == row
    (row,) = diagnostic_rows([Diagnostic(1, 1, "size", "a\ud800b")])
    assert row.message.encode()


@pytest.mark.parametrize(
    ("place", "shown"), [(-5, 0), (0, 0), (1, 1), (MAX_POSITION, MAX_POSITION), (10**9, MAX_POSITION)]
)
def test_a_place_is_moved_into_its_range(place: int, shown: int) -> None:
    rows = diagnostic_rows([Diagnostic(place, 1, "size", "m"), Diagnostic(1, place, "size", "m")])
    assert [(row.line, row.column) for row in rows] == [(shown, 1), (1, shown)]


@pytest.mark.parametrize(("start", "sent"), [(None, None), (2, 2), (MAX_STEPS, MAX_STEPS), (MAX_STEPS + 1, None)])
def test_a_plan_comes_back_from_its_row_as_it_was(start: int | None, sent: int | None) -> None:
    steps = (Step(1, 2, 3, "one", DIGEST, ("a",), ("b", "c")), Step(2, 4, 4, "", DIGEST))
    plan = Plan(
        "x", steps, ("f",), warnings=(Diagnostic(1, 2, "step", "w"),), start_from=start, needs=("d",), kept=("e",)
    )
    row = msgspec.msgpack.decode(msgspec.msgpack.encode(PlanRow.from_plan(plan)), type=PlanRow)
    assert row.to_plan() == msgspec.structs.replace(plan, start_from=sent)


# ------------------------------------------------------------------ what the host verifies

SOURCE = "one\ntwo\r\nthree\rfour"  # at most six lines, however line ends are counted


def plan_of(*places: tuple[int, int], source: str = SOURCE, numbers: Any = None, **names: Any) -> PlanRow:
    counted = numbers or range(1, len(places) + 1)
    rows = [
        StepRow(n, line, end, "t", DIGEST, names.get("needs", ()), names.get("sets", ()))
        for n, (line, end) in zip(counted, places, strict=True)
    ]
    return PlanRow(source, rows, names.get("provides", ()))


def test_lines_are_counted_by_each_kind_of_line_end() -> None:
    assert [count_lines(text) for text in ("", "a", "a\n", "a\nb", "a\rb", "a\r\nb")] == [1, 1, 2, 2, 2, 3]
    assert count_lines(SOURCE) == 5


HONEST: dict[str, PlanRow] = {
    "no step": plan_of(),
    "one step": plan_of((1, 1)),
    "one step over all": plan_of((1, 5)),
    "step beside step": plan_of((1, 2), (3, 5)),
    "steps with a gap": plan_of((1, 1), (5, 5)),
    "names": plan_of((1, 1), needs=("é", "_a1"), sets=("b",), provides=("c",)),
}

LIES: dict[str, tuple[PlanRow, str]] = {
    "an end beyond the source": (plan_of((1, 6)), "line 6, beyond the source"),
    "a second end beyond the source": (plan_of((1, 1), (2, 6)), "line 6, beyond the source"),
    "an end before its line": (plan_of((2, 1)), "step 1 of the plan is not behind"),
    "two steps on one line": (plan_of((1, 2), (2, 3)), "step 2 of the plan is not behind"),
    "a step within a step": (plan_of((1, 4), (2, 3)), "step 2 of the plan is not behind"),
    "steps out of order": (plan_of((3, 3), (1, 1)), "step 2 of the plan is not behind"),
    "a number left out": (plan_of((1, 1), (2, 2), numbers=(1, 3)), "step 2 of the plan has the number 3"),
    "a number twice": (plan_of((1, 1), (2, 2), numbers=(1, 1)), "step 2 of the plan has the number 1"),
    "no first step": (plan_of((1, 1), numbers=(2,)), "step 1 of the plan has the number 2"),
    "a need": (plan_of((1, 1), needs=("a", "a b")), "no identifier"),
    "a set name": (plan_of((1, 1), sets=("a", "1")), "no identifier"),
    "a provided name": (plan_of(provides=("a", "a.b")), "no identifier"),
    "a need of the second step": (plan_of((1, 1), (2, 2), needs=("-",)), "no identifier"),
    "another source": (plan_of(source=SOURCE + " "), "another source"),
    "no source": (plan_of(source=""), "another source"),
}


@pytest.mark.parametrize("row", HONEST.values(), ids=HONEST)
def test_a_plan_within_its_source_is_believed(row: PlanRow) -> None:
    assert verified_plan(row, SOURCE) == row.to_plan()


@pytest.mark.parametrize(("row", "said"), LIES.values(), ids=LIES)
def test_a_plan_beyond_its_source_is_not(row: PlanRow, said: str) -> None:
    with pytest.raises(ProtocolError, match=said):
        verified_plan(row, SOURCE)


def test_the_lines_of_a_repaired_source_count() -> None:
    source, repaired = "f'{x['a']}'\n", "f'{x[\"a\"]}'\n"
    assert verified_plan(plan_of((1, 2), source=repaired), source).source == repaired


@pytest.mark.parametrize(("lines", "believed"), [((0, 6), True), ((7,), False), ((1, 7), False), ((7, 1), False)])
def test_a_refusal_names_no_line_beyond_the_one_behind_the_source(lines: tuple[int, ...], believed: bool) -> None:
    frame = frames.RejectionFrame([DiagnosticRow(line, 1, "size", "m") for line in lines])
    if believed:
        found = verified_rejection(frame, SOURCE)
        assert (found.source, [d.line for d in found.diagnostics]) == (SOURCE, list(lines))
    else:
        with pytest.raises(ProtocolError, match="beyond the source"):
            verified_rejection(frame, SOURCE)
