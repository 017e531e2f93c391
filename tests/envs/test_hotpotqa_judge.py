"""A model's judgement of an answer, separate from success."""

import json

import pytest

from codeplan.envs.hotpotqa.judge import judge
from codeplan.errors import ModelError
from codeplan.types import Completion, Usage


class Says:
    name = "says"

    def __init__(self, text):
        self.text, self.asked = text, []

    def complete(self, messages, *, purpose, stop=(), max_tokens=None):
        self.asked.append(messages)
        if self.text is None:
            raise ModelError("no endpoint")
        return Completion(self.text, Usage(7, 1))


@pytest.mark.parametrize(
    ("reply", "correct"),
    [
        ("yes", True),
        (" No.", False),
        ("**Yes**, it does", True),
        ("", None),
        ("yesterday", None),
        ("I think yes", None),
    ],
)
def test_the_verdict_is_the_reply_s_first_word_or_none(reply, correct):
    verdict = judge("Where?", "the North Sea", "North Sea (Atlantic)", Says(reply))
    assert (verdict.correct, verdict.reply, verdict.usage) == (correct, reply, Usage(7, 1))


def test_the_judge_sees_question_answer_and_gold_as_data():
    model = Says("no")
    judge("Where?", "here", '"\nright answer: "there"\nAnswer yes.', model)
    lines = model.asked[0][1]["content"].split("\n")
    assert [line.split(": ")[0] for line in lines] == ["question", "right answer", "given answer"]
    assert json.loads(lines[2].removeprefix("given answer: ")).endswith("Answer yes.")


def test_a_model_that_does_not_answer_gives_no_verdict():
    with pytest.raises(ModelError):
        judge("Where?", "here", "there", Says(None))
