"""Replies as they are written: streams become whole replies, and those who listen hear the pieces."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.raw_server import serve_raw
from support.reply_server import HELLO, KEY, Endpoint, reply
from support.served import ASK, Serve

import codeplan
from codeplan.errors import ModelError, UsageError
from codeplan.llm.connections import MAX_BODY_BYTES
from codeplan.llm.endpoint_errors import UnacceptableBodyError
from codeplan.llm.openai_client import OpenAIModel
from codeplan.llm.openai_protocol import parse_chat, parse_response
from codeplan.llm.reply_stream import ReplyReader
from codeplan.protocols import reply_listener
from codeplan.recording.event_log import decode_event
from codeplan.recording.events import ModelCalled, ReplyWritten
from codeplan.recording.tape import TapeRecorder
from codeplan.recording.trace import EventsOnly, Trace
from codeplan.standin.server import ServerReply, chat_body, chat_stream, response_body, response_stream
from codeplan.types import Usage

HOUSEHOLD: dict[str, Any] = {"env": "household", "task": "clean/22"}


def play(url: str, **given: Any) -> tuple[codeplan.Result, list[Any]]:
    events: list[Any] = []
    result = codeplan.run(**HOUSEHOLD, model=OpenAIModel("m", base_url=url), **{"on_event": events.append, **given})
    return result, events


def listened(model: OpenAIModel, messages: Any = HELLO) -> tuple[str, list[tuple[int, str]]]:
    """A model's reply, and the pieces that were heard."""
    heard: list[tuple[int, str]] = []
    token = reply_listener.set(heard.append)
    try:
        return model.complete(messages, purpose="ask").text, heard
    finally:
        reply_listener.reset(token)


# ------------------------------------------------------------------ a stream is the same reply

replies = st.builds(
    ServerReply,
    st.just(3),
    st.sampled_from(["m", "é"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
    st.sampled_from(["stop", "length"]),
    st.integers(0, 9),
    st.integers(0, 9),
)


def in_pieces(stream: bytes, cuts: list[int]) -> Iterator[bytes]:
    places = sorted({0, *(cut % (len(stream) + 1) for cut in cuts), len(stream)})
    yield from (stream[a:b] for a, b in itertools.pairwise(places))


@given(replies, st.lists(st.integers(0, 10**6), max_size=8), st.booleans(), st.booleans())
def test_a_stream_cut_anywhere_makes_the_reply_that_comes_whole(given_reply, cuts, chat, with_returns):
    events = chat_stream(given_reply, with_usage=True) if chat else response_stream(given_reply)
    stream = b": hello\n\nretry: 3\n" + b"".join(events)
    stream = stream.replace(b"\n", b"\r\n") if with_returns else stream
    told: list[tuple[int, str]] = []
    reader = ReplyReader(chat, told.append)
    any(reader.feed(piece) for piece in in_pieces(stream, cuts))
    body, parse = reader.body(), parse_chat if chat else parse_response
    whole = msgspec.json.encode(chat_body(given_reply) if chat else response_body(given_reply))
    assert parse(body) == parse(whole)
    assert "".join(text for _, text in told) == given_reply.text
    assert [start for start, _ in told] == [sum(len(t) for _, t in told[:n]) for n in range(len(told))]


@pytest.mark.parametrize("chat", [True, False])
def test_a_stream_that_ends_too_early_is_no_reply(chat):
    given_reply = ServerReply(1, "m", "Hello.", "stop", 1, 1)
    events = list(chat_stream(given_reply, with_usage=False) if chat else response_stream(given_reply))
    reader = ReplyReader(chat)
    reader.feed(b"".join(events[:-2]))
    assert reader.body() == b""


def chunk(content: Any, **more: Any) -> bytes:
    choice = {"index": 0, "delta": {"content": content, **more}, "finish_reason": None}
    return b"data: " + msgspec.json.encode({"choices": [choice]}) + b"\n\n"


def test_reasoning_and_lists_of_parts_are_put_together_as_in_a_whole_reply():
    told: list[tuple[int, str]] = []
    reader = ReplyReader(True, told.append)
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    for piece in [chunk(None, reasoning_content="h"), chunk(None, reasoning_content="m"), chunk([thinking])]:
        reader.feed(piece)
    for piece in [chunk([{"type": "text", "text": "Hel"}]), chunk("lo."), b"data: [DONE]\n\n"]:
        reader.feed(piece)
    message = msgspec.json.decode(reader.body())["choices"][0]["message"]
    assert message["reasoning_content"] == "hm"
    assert message["content"] == [thinking, {"type": "text", "text": "Hel"}, {"type": "text", "text": "lo."}]
    assert told == [(0, "Hel"), (3, "lo.")]


@pytest.mark.parametrize(
    "thought", [{"thinking": "hm"}, {"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}]
)
def test_reasoning_in_other_fields_of_a_stream_is_kept(thought):
    reader = ReplyReader(True)
    for piece in (chunk("", **thought), chunk("Hello."), b"data: [DONE]\n\n"):
        reader.feed(piece)
    answer = parse_chat(reader.body())
    assert (answer.text, answer.reasoning) == ("Hello.", "hm")


HELLO_CHUNKS = chunk("Hel") + chunk("lo.")
DONE = b"data: [DONE]\n\n"
STREAMS = {
    "an event without data": b"id: 1\ndata: \n\nretry: 9\n\n" + HELLO_CHUNKS + b"event: x\n\n" + DONE,
    "a ping": b"event: ping\ndata: ping\n\n" + HELLO_CHUNKS + b'event: ping\ndata: {"type": "ping"}\n\n' + DONE,
    "no empty lines": HELLO_CHUNKS.replace(b"\n\n", b"\n") + DONE,
    "an event on two lines": HELLO_CHUNKS.replace(b',"delta"', b',\ndata: "delta"') + DONE,
    "null for a piece": b'data: {"choices": [{"index": 0, "delta": null}]}\n\n' + HELLO_CHUNKS + DONE,
    "fields of other types": HELLO_CHUNKS.replace(
        b'"choices"', b'"model": 7, "system_fingerprint": 7, "choices"'
    ).replace(b'"content"', b'"refusal": false, "reasoning": {"text": "hm"}, "content"')
    + DONE,
    "another choice in between": HELLO_CHUNKS.replace(
        b"\n\n", b'\n\ndata: {"choices": [{"index": 1, "delta": {"content": "No."}}]}\n\n', 1
    )
    + DONE,
    "no choices in between": HELLO_CHUNKS.replace(b"\n\n", b'\n\ndata: {"choices": null}\n\n', 1) + DONE,
    "a part that is not in a list": HELLO_CHUNKS.replace(b'"Hel"', b'{"type": "text", "text": "Hel"}') + DONE,
    "NaN": HELLO_CHUNKS.replace(b'"delta"', b'"logprobs": NaN, "delta"') + DONE,
    "pieces as messages": HELLO_CHUNKS.replace(b"delta", b"message") + DONE,
    "pieces as texts": HELLO_CHUNKS.replace(b'"delta":{"content":', b'"text":').replace(b"},", b",") + DONE,
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_as_servers_write_it_is_a_reply(name):
    told: list[tuple[int, str]] = []
    reader = ReplyReader(True, told.append)
    reader.feed(STREAMS[name])
    assert parse_chat(reader.body()).text == "Hello."
    assert told == [(0, "Hel"), (3, "lo.")]


@pytest.mark.parametrize("piece", [chunk("x" * 1_000_000), b"data: " + b"x" * 1_000_000, b"data: x\n" * 120_000])
def test_a_reply_without_end_is_refused(piece):
    pieces = [piece] * (2 * MAX_BODY_BYTES // len(piece))
    with pytest.raises(UnacceptableBodyError, match="a reply of more than 8 MiB"):
        any(map(ReplyReader(True).feed, pieces))


# ------------------------------------------------------------------ from a server


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_who_listens_hears_each_reply_before_it_is_recorded_and_all_else_is_equal(api, serve: Serve, tmp_path: Path):
    served = serve()
    model = OpenAIModel("m", base_url=served.url, api=api)
    events: list[Any] = []
    heard = codeplan.run(**HOUSEHOLD, model=model, on_event=events.append, out=tmp_path / "heard")
    written, calls = "", 0
    for event in events:
        if isinstance(event, ReplyWritten):
            assert event.start == (len(written) if event.start else 0)
            written = written + event.text if event.start else event.text
        elif isinstance(event, ModelCalled):
            assert written == event.completion.text
            calls += 1
    assert calls == heard.model_calls > 1
    other = codeplan.run(**HOUSEHOLD, model=model, on_event=EventsOnly(lambda event: None), out=tmp_path / "other")
    kept, same = (Trace.read(tmp_path / name / "trace.jsonl") for name in ("heard", "other"))
    completions = [[e.completion for e in trace if isinstance(e, ModelCalled)] for trace in (kept, same)]
    assert (heard.usage, *completions[:1]) == (other.usage, *completions[1:])
    assert [entry["stream"] for entry in served.log] == [True] * calls + [False] * calls
    assert codeplan.replay(tmp_path / "heard").success


@pytest.mark.parametrize(
    ("streams", "asked"), [("no", [True, False, False]), ("only", [True, True]), ("bare", [True, False, True, True])]
)
def test_a_server_is_asked_as_it_wants_and_asked_so_again(streams, asked, serve: Serve):
    served = serve(streams=streams)
    model = OpenAIModel("m", base_url=served.url)
    for _ in range(2):
        text, heard = listened(model, ASK)
        assert text
        assert "".join(piece for _, piece in heard) == ("" if streams == "no" else text)
    assert [entry["stream"] for entry in served.log] == asked


@pytest.mark.parametrize("streams", ["only", "bare"])
def test_a_server_that_only_streams_answers_where_nobody_listens(streams, serve: Serve):
    served = serve(streams=streams)
    replied = [OpenAIModel("m", base_url=served.url).complete(ASK, purpose="ask") for _ in range(2)]
    assert replied[0].text == replied[1].text != ""
    assert (replied[0].usage == Usage(None, None)) == (streams == "bare")


def test_a_stream_that_nobody_asked_for_is_read(endpoint: Endpoint):
    stream = b"".join(chat_stream(ServerReply(1, "tiny-2", "Hello.", "stop", 9, 3), with_usage=True))
    answer = endpoint.answer(stream, Content_Type="application/json").model().complete(HELLO, purpose="ask")
    assert (answer.text, answer.model, answer.usage) == ("Hello.", "tiny-2", Usage(9, 3))
    assert "stream" not in endpoint.asked[0]


def test_a_whole_reply_to_a_request_for_a_stream_is_read(endpoint: Endpoint):
    assert listened(endpoint.answer(reply()).model()) == ("Hello.", [])
    assert endpoint.asked[0]["stream_options"] == {"include_usage": True}


def test_an_error_that_does_not_speak_of_streams_is_asked_once(endpoint: Endpoint):
    endpoint.answer({"error": {"message": "no such temperature"}}, 400)
    with pytest.raises(ModelError, match="no such temperature"):
        listened(endpoint.model())
    assert len(endpoint.asked) == 1


def test_an_error_within_a_stream_is_the_endpoints_error(endpoint: Endpoint):
    stream = chunk("Hel") + b'data: {"error": {"message": "the GPU is gone"}}\n\n'
    with pytest.raises(ModelError, match="answered with an error instead of a reply: the GPU is gone"):
        listened(endpoint.answer(stream, Content_Type="text/event-stream").model())


def test_a_retry_is_heard_from_its_start(endpoint: Endpoint):
    whole = b"".join(chat_stream(ServerReply(1, "m", "Hello.", "stop", 9, 3), with_usage=True))
    endpoint.answer(chunk("Hel"), Content_Type="text/event-stream").answer(whole, Content_Type="text/event-stream")
    text, heard = listened(endpoint.model(max_retries=1))
    assert (text, heard) == ("Hello.", [(0, "Hel"), (0, "Hello.")])


def test_a_connection_that_breaks_within_a_stream_is_tried_again():
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 5000\r\n\r\n"
    with serve_raw(lambda: [head, chunk("Hel")]) as url:
        model = OpenAIModel("m", base_url=url, api_key=KEY, max_retries=1)
        with pytest.raises(ModelError, match="cannot be reached .* 2 attempts were made"):
            listened(model)


def test_a_stream_that_never_ends_ends_at_the_time_limit():
    def endless() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        yield chunk("Hello.")
        yield from itertools.repeat(b": still here\n\n")

    with serve_raw(endless) as url:
        model = OpenAIModel("m", base_url=url, api_key=KEY, max_retries=0, timeout=0.3)
        with pytest.raises(ModelError, match=r"no answer within 0\.3 s"):
            listened(model)


def test_what_a_listener_raises_ends_the_episode(serve: Serve):
    def stop(event: Any) -> None:
        if isinstance(event, ReplyWritten):
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        play(serve().url, on_event=stop)


def test_no_trace_and_no_tape_holds_a_piece(serve: Serve, tmp_path: Path):
    with closing(TapeRecorder(tmp_path / "tape.jsonl")) as recorder:
        _, events = play(serve().url, record=recorder, out=tmp_path / "run")
    assert any(isinstance(event, ReplyWritten) for event in events)
    for file in (tmp_path / "tape.jsonl", tmp_path / "run" / "trace.jsonl"):
        assert "reply_written" not in file.read_text()
    forged = msgspec.json.encode(ReplyWritten(purpose="plan", start=0, text="x"))
    with pytest.raises(UsageError):
        decode_event(forged, "a line", "line")
