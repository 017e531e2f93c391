"""Frames: whole ones come through as they were, and nothing else gets past the host's side."""

from __future__ import annotations

import socket
import sys

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.caged import SampleHome, locked_worker

from codeplan.plain_data import MAX_DEPTH, MAX_SAME_HASH, MAX_VALUES, NotPlainData, pack
from codeplan.sandbox import Limits, encode
from codeplan.sandbox.host.agent_port import AgentPort
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.forms import Choice, Either, Fields, Scalar
from codeplan.sandbox.protocol.frames import Crossing, escape_surrogates, holds_half_pair, pack_value, unpack_value
from codeplan.types import Checkpoint

TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=3)
    ),
    max_leaves=15,
)
TABLE = frames.CheckpointTable.from_checkpoint(encode({"x": [1, "a", 2.5, None]}, 1_000))
FRAMES: list[frames.Frame] = [
    frames.ReadyFrame([]),
    frames.StartFrame(),
    frames.StepFrame(1, TABLE),
    frames.OutputFrame("a"),
    frames.CallFrame("goto", ["a", pack_value([1])], {"k": None}),
    frames.ReadFrame("holding"),
    frames.AskFrame(
        "which?", [pack_value(["a", None])], Fields({"a": Either((Scalar("date"), Choice(("x", 1))))}), "no"
    ),
    frames.EndFrame("failed", 1, 3, "ValueError", "no", 0, 0.1, TABLE),
]


@pytest.mark.parametrize("frame", FRAMES, ids=lambda f: type(f).__name__)
def test_a_frame_arrives_unchanged_in_any_pieces(frame):
    packed = frames.pack(frame) * 2
    assembler = frames.FrameAssembler(10_000)
    found = []
    for i in range(0, len(packed), 3):
        whole = assembler.next_worker_frame(packed[i : i + 3])
        while whole is not None:
            found.append(whole)
            whole = assembler.next_worker_frame()
    assert found == [frame, frame]


@given(TREES)
def test_packing_keeps_plain_data_and_its_exact_types(value):
    crossed = msgspec.msgpack.decode(msgspec.msgpack.encode(pack_value(value)), type=Crossing)
    assert repr(unpack_value(crossed)) == repr(value)


class Label(str):
    """A subclass of text."""


class Level(int):
    """A subclass of int."""

    def __repr__(self) -> str:
        return "Level"


def test_subclasses_of_plain_types_are_packed_as_the_plain_type():
    back = unpack_value(pack_value({"a": Label("b"), "n": Level(3)}))
    assert back == {"a": "b", "n": 3}
    assert [type(v) for v in back.values()] == [str, int]  # type: ignore[attr-defined]  # a dict


def test_keys_that_would_take_long_to_compare_are_neither_packed_nor_unpacked():
    def keyed(count):
        return {number * sys.hash_info.modulus: 0 for number in range(count)}

    assert unpack_value(pack_value(keyed(MAX_SAME_HASH))) == keyed(MAX_SAME_HASH)
    with pytest.raises(NotPlainData, match="more than 32 keys of the same hash"):
        pack_value([keyed(MAX_SAME_HASH + 1)])
    pairs = [[pack(key), 0] for key in keyed(MAX_SAME_HASH + 1)]
    with pytest.raises(NotPlainData, match="more than 32 keys of the same hash"):
        unpack_value((msgspec.json.encode({"$dict": pairs}),))


@given(st.binary(max_size=200))
def test_random_bytes_are_a_protocol_error(junk):
    try:
        frames.unpack_worker_frame(junk)
    except frames.ProtocolError as error:
        assert "not of a known form" in str(error)


@pytest.mark.long
@settings(max_examples=300)
@given(
    st.recursive(
        st.none()
        | st.integers()
        | st.floats()
        | st.text()
        | st.binary(max_size=5)
        | st.sampled_from(["CallFrame", "EndFrame", "StepFrame"]),
        lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=20,
    )
)
def test_well_formed_nonsense_is_a_protocol_error_or_a_frame(junk):
    try:
        body = msgspec.msgpack.encode(junk)
    except (OverflowError, UnicodeEncodeError):
        return
    try:
        assert isinstance(frames.unpack_worker_frame(body), frames.Frame)
    except frames.ProtocolError as error:
        assert str(error)


def test_deeply_nested_bytes_are_a_protocol_error_not_a_crash():
    with pytest.raises(frames.ProtocolError):
        frames.unpack_worker_frame(b"\x91" * 500_000)
    with pytest.raises(frames.ProtocolError):
        frames.unpack_worker_frame(b"\x94\xa4Call\xa4goto\x91" + b"\x91" * 500_000)


def test_a_frame_that_claims_to_be_too_long_is_refused_before_it_is_read():
    assembler = frames.FrameAssembler(1_000)
    with pytest.raises(frames.ProtocolError, match=r"4,294,967,295 bytes, but the maximum is 1,000"):
        assembler.next_body((2**32 - 1).to_bytes(4, "big"))


def test_a_frame_may_have_the_maximum_of_bytes_and_no_more():
    assembler = frames.FrameAssembler(10)
    assert assembler.next_body((10).to_bytes(frames.HEADER_BYTES, "big") + b"0123456789") == b"0123456789"
    with pytest.raises(frames.ProtocolError, match="a frame of 11 bytes, but the maximum is 10"):
        assembler.next_body((11).to_bytes(frames.HEADER_BYTES, "big"))


def test_a_table_with_nested_nodes_is_refused_when_unpacked():
    table = frames.CheckpointTable.from_checkpoint(Checkpoint({"x": 0}, [["list", ["deep"]]]))
    with pytest.raises(frames.ProtocolError):
        frames.unpack_worker_frame(frames.pack(frames.StepFrame(1, table))[frames.HEADER_BYTES :])


def test_a_table_with_a_part_too_many_is_refused_when_unpacked():
    for more, refused in (([], False), ([{}], True)):
        body = msgspec.msgpack.encode(["StepFrame", 1, [{"x": 0}, [1], {}, *more]])
        if refused:
            with pytest.raises(frames.ProtocolError, match="not of a known form"):
                frames.unpack_worker_frame(body)
        else:
            assert isinstance(frames.unpack_worker_frame(body), frames.StepFrame)


def test_half_a_surrogate_pair_is_printed_as_an_escape():
    assert escape_surrogates("a\ud800é") == "a\\ud800é"


@given(st.sampled_from(["goto", "_secret", "__class__", "act", ""]), st.lists(TREES, max_size=3))
def test_the_agent_is_reached_by_its_public_names_only(name, values):
    port = AgentPort(SampleHome(lambda action: None), str)
    call = frames.CallFrame(name, [pack_value(v) for v in values], {})
    if name == "goto" and any(map(holds_half_pair, call.args)):
        with pytest.raises(frames.ProtocolError, match="half of a surrogate pair"):
            port.answer(call)
        return
    if name == "goto":
        assert isinstance(port.answer(call), frames.ResultFrame | frames.ErrorFrame)
        return
    with pytest.raises(frames.ProtocolError, match="the agent has no"):
        port.answer(call)
    with pytest.raises(frames.ProtocolError, match="the agent has no"):
        port.answer(frames.ReadFrame(name))


def test_arguments_that_a_correct_worker_never_sends_are_a_protocol_error():
    port = AgentPort(SampleHome(lambda action: None), str)
    for packed in ('{"$int":"x"}', '{"$odd":1}', "[", "", "[" * 10_000, "1" * 5_000, '"\\ud800"'):
        with pytest.raises(frames.ProtocolError, match="goto was given"):
            port.answer(frames.CallFrame("goto", [(packed.encode(),)], {}))


@pytest.mark.parametrize("argument", [{}, {"a": 1}, [], [b"", b""], [{(1, 2): 3}], ["text"], b"bytes"])
def test_arguments_hold_no_maps_whose_keys_the_host_would_have_to_hash(argument):
    for call in (frames.CallFrame("goto", [argument], {}), frames.CallFrame("goto", [], {"place": argument})):
        with pytest.raises(frames.ProtocolError, match="not of a known form"):
            frames.unpack_worker_frame(frames.pack(call)[frames.HEADER_BYTES :])


def test_the_findings_of_an_analysis_are_bytes_and_no_map():
    for found in ({}, {(1, 2): 3}, [1]):
        with pytest.raises(frames.ProtocolError, match="not of a known form"):
            frames.unpack_worker_frame(msgspec.msgpack.encode(["Analysis", found]))


def test_arguments_may_have_the_maximum_depth():
    argument = 2**70
    for _ in range(MAX_DEPTH):
        argument = [argument]
    call = frames.CallFrame("goto", [pack_value(argument)], {"place": pack_value(argument)})
    assert frames.unpack_worker_frame(frames.pack(call)[frames.HEADER_BYTES :]) == call


def test_only_the_agents_own_work_is_untimed():
    port, done = AgentPort(SampleHome(lambda action: None), str), []

    def outside(work):
        done.append(work())
        return ["more than can be packed", *[[]] * MAX_VALUES]

    with pytest.raises(frames.ProtocolError, match="goto was given"):
        port.answer(frames.CallFrame("goto", [(b'{"$text":"not hexadecimal"}',)], {}), outside)
    assert done == []
    assert isinstance(port.answer(frames.CallFrame("goto", ["desk 1"], {}), outside), frames.ErrorFrame)
    assert len(done) == 1


def test_a_worker_refuses_to_serve_without_a_setup():
    with locked_worker(setup=False) as worker:
        worker._socket.sendall(frames.pack(frames.ErrorFrame("hello")))  # `send` would refuse it
        assert worker.has_ended(5)


def test_a_worker_ends_when_the_host_goes_away():
    with locked_worker() as worker:
        worker._socket.shutdown(socket.SHUT_WR)  # tests may use private state
        assert worker.has_ended(5)
    assert Limits().wall
