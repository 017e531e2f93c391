import pytest

from codeplan.cancellation import Cancellation
from codeplan.errors import UsageError
from codeplan.recording.events import CallAnswered, EpisodeStarted, SpanClosed, SpanOpened, StepEntered, TextPrinted
from codeplan.recording.trace import Trace
from codeplan.types import Answer, Checkpoint, Observation, Task

EVENTS = [
    EpisodeStarted(task=Task("a"), env="e", method="m", model="x", codeplan_version="0"),
    SpanOpened(id=1, kind="trial", name="1"),
    CallAnswered(id=1, answer=Answer(observation=Observation("there", 0.5)), seconds=0.1),
    StepEntered(step=1, title="t", checkpoint=Checkpoint({"x": 0}, [1], {"f": "a function"})),
    TextPrinted(text="[bold]\x1b[31m"),
]


def written(path):
    trace = Trace(path)
    for event in EVENTS:
        trace.append(event, span=3)
    trace.close()
    return trace


def test_what_is_written_is_read_back(tmp_path):
    trace = written(tmp_path / "run" / "trace.jsonl")
    assert Trace.read(trace.path) == Trace.read(str(trace.path)) == trace.events
    assert Trace.read(tmp_path / "run") == trace.events
    assert [e.seq for e in trace.events] == [0, 1, 2, 3, 4]
    assert all(e.span == 3 and e.at > 0 for e in trace.events)


def test_events_are_on_disk_before_append_returns(tmp_path):
    trace = Trace(tmp_path / "t.jsonl")
    trace.append(EVENTS[0])
    assert len(Trace.read(trace.path)) == 1
    trace.close()


def test_a_torn_last_line_is_left_out(tmp_path):
    path = written(tmp_path / "t.jsonl").path
    path.write_bytes(path.read_bytes()[:-7])
    assert len(Trace.read(path)) == len(EVENTS) - 1


@pytest.mark.parametrize("damaged", [b'{"event":"nonsense"}', b'{"event":"\xff', b"\x00", b"[" * 100_000])
def test_a_damaged_line_in_the_middle_is_named(tmp_path, damaged):
    path = written(tmp_path / "t.jsonl").path
    lines = path.read_bytes().split(b"\n")
    lines[2] = damaged
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(UsageError, match="line 3"):
        Trace.read(path)


def test_a_trace_is_never_overwritten(tmp_path):
    path = written(tmp_path / "t.jsonl").path
    with pytest.raises(UsageError, match="exists already"):
        Trace(path)


def test_a_trace_that_cannot_be_written_says_why(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="file"):
        Trace(tmp_path / "file" / "t.jsonl")


def test_on_event_sees_each_event_as_it_happens():
    seen = []
    trace = Trace(on_event=seen.append)
    trace.append(EVENTS[0])
    assert seen == trace.events


def rewritten(path, old, new):
    """The trace with a change in its header."""
    written(path)
    header, rest = path.read_bytes().split(b"\n", 1)
    assert old in header
    path.write_bytes(header.replace(old, new) + b"\n" + rest)
    return path


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (b'"format":3', b'"format":2', 2),
        (b'"format":3,', b"", 1),
        (b'"codeplan_version":"0","format":3', b'"codeplan":"0"', 1),
    ],
)
def test_a_trace_in_another_format_is_refused_in_one_sentence(tmp_path, old, new, found):
    path = rewritten(tmp_path / "t.jsonl", old, new)
    with pytest.raises(UsageError, match=rf"line 1 is in trace format {found}, and this version .* reads format 3"):
        Trace.read(path)


def test_the_format_is_written_although_it_is_the_default(tmp_path):
    assert b'"format":3' in written(tmp_path / "t.jsonl").path.read_bytes().split(b"\n")[0]


def test_a_recorded_event_is_seen_ahead_up_to_the_end_of_the_recording():
    kind = type(EVENTS[0])
    trace = Trace(recording=EVENTS[:1])
    assert trace.peek_recorded(kind) == trace.next_recorded(kind) == EVENTS[0]
    trace.append(EVENTS[0])
    assert (trace.peek_recorded(kind), trace.next_recorded(kind)) == (None, None)


def test_an_episode_that_had_only_begun_goes_on_without_the_end_of_an_interruption(tmp_path):
    path = tmp_path / "t.jsonl"
    trace = Trace(path)
    trace.append(EVENTS[0])
    trace.append(SpanClosed(id=1))
    trace.close()
    assert Trace.read_resumable(path) == trace.events[:1]
    resumed = Trace.resume(path)
    assert resumed.recording == trace.events[:1]
    resumed.close()


def test_what_does_not_begin_as_an_episode_cannot_go_on(tmp_path):
    path = tmp_path / "t.jsonl"
    trace = Trace(path)
    for event in (EVENTS[1], EVENTS[0]):
        trace.append(event)
    trace.close()
    with pytest.raises(UsageError, match="does not begin with the start of an episode"):
        Trace.resume(path)


def test_an_empty_file_of_an_episode_killed_at_once_is_a_trace_without_events(tmp_path):
    path = tmp_path / "t.jsonl"
    path.touch()
    resumed = Trace.resume(path)
    assert (resumed.recording, resumed.is_replaying) == ([], False)
    resumed.append(EVENTS[0])
    resumed.close()
    assert [type(e) for e in Trace.read(path)] == [EpisodeStarted]


def test_the_handler_gets_the_event_after_which_a_cancelled_episode_ends(tmp_path):
    seen, cancellation = [], Cancellation()
    trace = Trace(tmp_path / "t.jsonl", on_event=seen.append)
    cancellation.cancel()
    with cancellation.in_force():
        with pytest.raises(KeyboardInterrupt):
            trace.append(EVENTS[0])
        trace.append(EVENTS[1])  # the thread is interrupted once
    trace.close()
    assert seen == trace.events == list(Trace.read(trace.path))
    assert len(seen) == 2
