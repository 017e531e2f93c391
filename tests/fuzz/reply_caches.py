"""The cache of replies: files of its folder that somebody else wrote, moved or linked, before the model is asked again."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any, Final

import msgspec
from confinement import Watch, judge_sentence
from mutation import as_json, mutate_bytes, mutate_tree, odd_value

from codeplan.errors import ModelError
from codeplan.llm.reply_cache import MAX_ENTRY_BYTES, CachedModel
from codeplan.types import Completion, Usage

_QUESTIONS: Final = ("Where is the mug?", "Where is the mug?", "", "é\ud800\x1b[2J", "a" * 50_000)
_ANSWERS: Final = ("desk 1", "", "é\x1b[2J\u202e", "['desk 1', 'shelf 2']", "\ud800", "b" * 50_000)


class _NumberedModel:
    """Answers each question with a text of its own; ``fails`` raises in place of the answer."""

    name = "numbered"

    def __init__(self, answers: list[str], *, fails: bool = False) -> None:
        self._answers, self._fails = answers, fails
        self.asked = 0

    def complete(self, messages: Any, *, purpose: str, stop: Any = (), max_tokens: int | None = None) -> Completion:
        self.asked += 1
        if self._fails:
            raise ModelError("no answer today")
        return Completion(self._answers[self.asked - 1], Usage(10, 5, money=0.25), model="m")


def judge_cache(pick: random.Random, watch: Watch) -> None:
    """Some replies are kept, a stranger changes the folder, and a new process asks the same."""
    with watch.example() as folder:
        questions = [pick.choice(_QUESTIONS) for _ in range(pick.choice([1, 2, 4]))]
        answers = [pick.choice(_ANSWERS) for _ in questions]
        cache = folder / "cache"
        _ask_all(_NumberedModel(answers), cache, questions, watch)
        kept = {path: path.read_bytes() for path in sorted(cache.glob("*/*.json"))}
        forged = [_change(pick, watch, kept) for _ in range(pick.choice([1, 1, 3]))]
        model = _NumberedModel([f"new {number}" for number in range(len(questions))], fails=pick.random() < 0.1)
        found = _ask_all(model, cache, questions, watch)
        _judge(found, model)
        if not any(forged):
            assert all(one.text == own for one, own in zip(found, answers, strict=False) if one.usage.reused_replies), (
                "it gave the answer to another question"
            )
        if not any(one.warning for one in found) and len(found) == len(questions):
            again = _NumberedModel([])
            assert [one.text for one in _ask_all(again, cache, questions, watch)] == [one.text for one in found]
            assert again.asked == 0, "a reply was not kept, and nobody was told"


def _ask_all(model: _NumberedModel, cache: Path, questions: list[str], watch: Watch) -> list[Completion]:
    """What one episode gets for the questions, up to the first failure."""
    cached = CachedModel(model, cache)
    found = []
    with watch.watched():
        for question in questions:
            try:
                found.append(cached.complete([{"role": "user", "content": question}], purpose="ask"))
            except ModelError:
                break
    return found


def _judge(found: list[Completion], model: _NumberedModel) -> None:
    reused = [one for one in found if one.usage.reused_replies]
    assert all(one.usage.reused_replies == 1 and one.usage.money == 0 and not one.retries for one in reused)
    assert all(one.text.startswith("new ") and one.usage.money == 0.25 for one in found if one not in reused)
    assert len(found) - len(reused) == model.asked - (1 if model.asked and model._fails else 0)
    for one in found:
        assert "CANARY-5f1e" not in one.text, "it read another file"
        assert msgspec.convert(json.loads(json.dumps(msgspec.to_builtins(one))), Completion) == one  # a trace holds it
        if one.warning:
            judge_sentence(one.warning)


def _change(pick: random.Random, watch: Watch, kept: dict[Path, bytes]) -> bool:
    """Change one file of the folder, or what stands in its place. Returns whether a file may say what no model said."""
    if not kept:
        return False
    path = pick.choice([*kept])
    data = kept[path]
    change = pick.randrange(9)
    match change:
        case 0 | 1 | 2:
            _replace(watch, path, as_json(mutate_tree(pick, json.loads(data), [json.loads(k) for k in kept.values()])))
        case 3:
            _replace(watch, path, mutate_bytes(pick, data))
        case 4:
            _replace(watch, path, pick.choice([*kept.values()]))
        case 5:
            _replace(watch, path, as_json(odd_value(pick)))
        case 6:
            _replace(watch, path, pick.choice([b"", b" " * MAX_ENTRY_BYTES + data, data + b" ", b"[" * 100_000]))
        case 7:
            _link(pick, watch, path)
        case _:
            _link(pick, watch, path.parent)
    return change < 4


def _replace(watch: Watch, path: Path, data: bytes) -> None:
    """Write a file, unless something else stands in its way."""
    if path.parent.is_dir() and not path.parent.is_symlink() and (path.is_file() or not os.path.lexists(path)):
        path.unlink(missing_ok=True)
        path.write_bytes(watch.fill(data))


def _link(pick: random.Random, watch: Watch, path: Path) -> None:
    """Put something in the place of a file or a folder that is no file or folder of the cache."""
    aside = path.with_name(f"{path.name}-{pick.randrange(10**6)}")
    if not os.path.lexists(path) or os.path.lexists(aside):
        return
    path.rename(aside)
    match pick.randrange(5):
        case 0:
            path.symlink_to(pick.choice([watch.canary, watch.canary / "secret", aside, path, "/dev/zero"]))
        case 1:
            os.mkfifo(path)
        case 2:
            path.mkdir()
        case 3:
            path.write_bytes(b"no folder")
        case _:
            pass  # it is gone
