"""Stop sequences: replies are always cut here, and endpoints get a sequence only where a setting asks for it."""

from __future__ import annotations

from typing import Any

import pytest
from support.reply_server import HELLO, KEY, reply, response

from codeplan.errors import ModelError
from codeplan.runner.episodes import run
from codeplan.types import GaveUp

APIS = ("chat", "responses")


def body_with(api: str, text: str, *, cut_off: bool = False) -> dict[str, Any]:
    """A body of this API with this text; ``cut_off`` at the limit of tokens."""
    if api == "chat":
        return reply(text, "length" if cut_off else "stop")
    content = [{"type": "output_text", "text": text}]
    ending = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}} if cut_off else {}
    return response(output=[{"type": "message", "role": "assistant", "content": content}], **ending)


@pytest.mark.parametrize("api", APIS)
def test_a_methods_stop_sequence_cuts_the_reply_and_is_not_sent(endpoint, api):
    model = endpoint.answer(body_with(api, "go to desk 1\ntake pen 1")).model(api=api)
    assert model.complete(HELLO, purpose="act", stop=["\n"]).text == "go to desk 1"
    assert "stop" not in endpoint.asked[0]


def test_send_stop_sends_the_methods_sequences_after_the_users(endpoint):
    model = endpoint.answer(reply()).model(stop=["END"], send_stop=True)
    model.complete(HELLO, purpose="act", stop=["\n"])
    model.complete(HELLO, purpose="plan")
    assert [asked["stop"] for asked in endpoint.asked] == [["END", "\n"], ["END"]]
    assert model.settings["send_stop"] is True


def test_the_responses_api_gets_no_stop_sequence_at_all(endpoint):
    model = endpoint.answer(body_with("responses", "one END two")).model(api="responses", stop=["END"], send_stop=True)
    assert model.complete(HELLO, purpose="act", stop=["\n"]).text == "one "
    assert "stop" not in endpoint.asked[0]


@pytest.mark.parametrize("api", APIS)
def test_a_reply_cut_off_after_its_stop_sequence_is_whole(endpoint, api):
    model = endpoint.answer(body_with(api, "go to desk 1\ntake pe", cut_off=True)).model(api=api)
    answer = model.complete(HELLO, purpose="act", stop=["\n"])
    assert (answer.text, answer.finish_reason) == ("go to desk 1", "stop")


@pytest.mark.parametrize("api", APIS)
def test_a_reply_cut_off_before_its_stop_sequence_is_not_an_answer(endpoint, api):
    model = endpoint.answer(body_with(api, "go to de", cut_off=True)).model(api=api)
    with pytest.raises(ModelError, match="limit of tokens"):
        model.complete(HELLO, purpose="act", stop=["\n"])


@pytest.mark.parametrize(
    ("text", "stop", "cut"),
    [
        ("\n\ngo to desk 1\nlook", ["\n"], "\n\ngo to desk 1"),
        (" \r\n look", ["\n"], " \r\n look"),
        ("\nObservation: a desk", ["\nObservation:"], ""),
        ("a b c", ["c", "b"], "a "),
        ("a b c", ["", "b"], "a "),
        ("abc", ["bcd"], "abc"),
        ("ab", ["ab"], ""),
        ("aab", ["ab"], "a"),
        ("x\u2028y", ["\u2028"], "x"),
        ("END" * 1000, ["END"], ""),
        ("a\0b", ["\0"], "a"),
        (f"my key is {KEY}\nmore", ["\n"], "my key is ***"),
        (f"my key is {KEY}", [KEY[8:]], "my key is ***"),
    ],
)
def test_a_reply_ends_at_the_first_stop_sequence_in_it(endpoint, text, stop, cut):
    assert endpoint.answer(reply(text)).model().complete(HELLO, purpose="act", stop=stop).text == cut


def test_react_takes_the_first_line_of_a_reply_with_many(endpoint):
    endpoint.answer(reply("\n> think: I give up.\nOK.\n> go to desk 1")).answer(reply("think: Task failed!\nOK."))
    result = run("household", "clean/0", "react", endpoint.model())
    assert (result.actions, result.model_calls, result.ending) == (0, 2, GaveUp("it says that it cannot do the task"))
    assert not any("stop" in asked for asked in endpoint.asked)
