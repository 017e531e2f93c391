"""Skills chosen by meaning: vectors from a served endpoint, kept in the index, and nothing asked when it was recorded."""

from __future__ import annotations

import math
import sqlite3
import struct

import pytest
from msgspec.structs import replace
from support.boxes import Boxes, Replies
from support.endpoint import serve
from support.skill_samples import skill, task

from codeplan.budget import Budget
from codeplan.errors import ModelError, UsageError
from codeplan.llm.openai_client import OpenAIModel
from codeplan.llm.routing import RoutedModel
from codeplan.recording.events import ModelCalled, ModelCallFailed, SkillsChosen, TextsEmbedded
from codeplan.recording.trace import Trace, describe_difference
from codeplan.runner.episodes import run
from codeplan.runner.recorded_episodes import replay, resume
from codeplan.skills.embeddings import MAX_CHARACTERS, Embedder
from codeplan.skills.library import FixedStore, ReadOnlyStore, SkillLibrary
from codeplan.skills.skill import Skill
from codeplan.standin.server import text_vector
from codeplan.types import Usage

__all__ = ["serve"]

PLAN = """def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] I open it')
        assert 'ball' in agent.open({}), 'no ball'
"""
NEAR, FAR = "Find the ball that is in one of the boxes.", "Sort all letters by their sender."


class Model(Replies):
    """Gives the replies it was made with, and has vectors from an endpoint."""

    def __init__(self, url, *replies):
        super().__init__(*replies)
        self._endpoint = OpenAIModel("tiny", base_url=url, max_retries=0)
        self.embedded = []

    def embed(self, texts, *, model):
        self.embedded.append(list(texts))
        return self._endpoint.embed(texts, model=model)


@pytest.fixture
def url(serve):
    return serve().url


@pytest.fixture
def library(tmp_path):
    made = SkillLibrary(tmp_path / "skills")
    for name, description, box in (("far-1", FAR, 3), ("near-1", NEAR, 2)):
        made.add(Skill(name, "boxes", PLAN.format(box), "find", description, status="active"))
    return made


def play(url, library, out=None, **settings):
    """An episode whose skills are chosen by meaning, and what was embedded for it."""
    model = Model(url, PLAN.format(2))
    settings = {"library": str(library.path), "embeddings": "small", **settings}
    return run(Boxes(), "ball/2", model=model, out=out, **settings), model.embedded


def events(folder, *kinds):
    return [e for e in Trace.read(folder / "trace.jsonl") if isinstance(e, kinds)]


def by_hand(embedded):
    """An embedder that needs no endpoint; what it embeds is added to the list."""

    def embed(texts):
        embedded.extend(texts)
        return [text_vector(text) for text in texts]

    return Embedder("small", embed)


# ------------------------------------------------------------------ what is chosen


def test_the_nearest_skill_comes_first_and_its_cosine_is_on_the_trace(url, library, tmp_path):
    play(url, library, tmp_path / "run")
    (event,) = events(tmp_path / "run", SkillsChosen)
    cosines = [
        sum(
            a * b for a, b in zip(text_vector("find the ball"), text_vector(f"{said}\n{PLAN.format(box)}"), strict=True)
        )
        for said, box in ((NEAR, 2), (FAR, 3))
    ]
    assert [c.name for c in event.chosen] == ["near-1", "far-1"]
    assert [c.score for c in event.chosen] == pytest.approx(cosines, abs=1e-4)


def test_only_what_could_be_found_by_words_is_a_candidate(library):
    for name, more in (
        ("candidate-1", {"status": "candidate"}),
        ("retired-1", {"status": "retired"}),
        ("other-kind", {"kind": "sort"}),
        ("other-world", {"env": "household"}),
        ("any-kind", {"kind": ""}),
    ):
        library.add(Skill(**{"name": name, "env": "boxes", "kind": "find", "status": "active", "plan": name} | more))
    embedded = []
    found = library.nearest(Boxes().tasks("test")[0], 9, by_hand(embedded))
    assert sorted(s.name for s in found) == ["any-kind", "far-1", "near-1"]
    assert len(library.nearest(Boxes().tasks("test")[0], 1, by_hand([]))) == 1


def test_read_only_and_fixed_stores_rank_by_embeddings_too(library):
    first = Boxes().tasks("test")[0]
    assert ReadOnlyStore(library).nearest(first, 1, by_hand([]))[0].name == "near-1"
    assert FixedStore(library.get_by_name("far-1")).nearest(first, 1, by_hand([]))[0].name == "far-1"


def test_without_a_goal_the_first_observation_is_embedded(url, library):
    class Quiet(Boxes):
        def tasks(self, split):
            return [replace(t, goal="") for t in super().tasks(split)]

    model = Model(url, PLAN.format(2))
    run(Quiet(), "ball/2", model=model, library=library, embeddings="small")
    assert model.embedded[0][0] == "There are the boxes 1, 2 and 3. Find the ball."


# ------------------------------------------------------------------ what is asked, kept and counted


def test_vectors_are_kept_so_that_later_only_the_goal_and_new_texts_are_embedded(url, library):
    def embedded():
        return play(url, library)[1]

    assert [len(texts) for texts in embedded()] == [3]
    assert embedded() == [["find the ball"]]
    library.change(library.get_by_name("far-1"), description="Sort all words.")
    assert [len(texts) for texts in embedded()] == [2]
    library.add(Skill("new-1", "boxes", PLAN.format(1), "find", "New.", status="active"))
    assert embedded() == [["find the ball", f"New.\n{PLAN.format(1)}"]]
    library.rebuild()
    assert [len(texts) for texts in embedded()] == [4]


def test_each_embedding_model_has_vectors_of_its_own(url, library):
    play(url, library)
    assert len(play(url, library, embeddings="large")[1][0]) == 3


def test_a_call_for_vectors_is_on_the_trace_and_is_charged(url, library, tmp_path):
    result, embedded = play(url, library, tmp_path / "run")
    (event,) = events(tmp_path / "run", TextsEmbedded)
    assert (event.model, event.texts, len(event.digest)) == ("small", 3, 16)
    tokens = sum(1 + len(text) // 4 for text in embedded[0])
    assert event.usage == Usage(tokens, 0, money=None)
    assert result.model_calls == 2
    assert result.usage.input_tokens == tokens


def test_a_spent_call_budget_embeds_nothing(url, library):
    result, embedded = play(url, library, budget=Budget(model_calls=0))
    assert (result.reason, embedded) == ("budget: the budget of 0 model calls is spent", [])


def test_without_a_skill_that_could_be_chosen_nothing_is_embedded(url, tmp_path):
    (tmp_path / "empty").mkdir()
    result, embedded = play(url, SkillLibrary(tmp_path / "empty"))
    assert (result.success, embedded) == (True, [])


def test_long_texts_are_cut_and_many_are_embedded_in_parts(library):
    for number in range(300):
        library.add(skill(f"heat-{number}", plan=f"# {number}\n" + "word " * 1_000))
    parts = []
    embedder = Embedder("small", lambda texts: parts.append(texts) or [text_vector(text) for text in texts])
    assert len(library.nearest(task(), 5, embedder)) == 5
    assert [len(texts) for texts in parts] == [256, 45]
    assert max(len(text) for texts in parts for text in texts) == MAX_CHARACTERS


def test_malformed_vectors_and_other_lengths_are_embedded_again(library):
    first = Boxes().tasks("test")[0]
    asked = []
    library.nearest(first, 2, by_hand([]))
    short = Embedder("small", lambda texts: asked.append(len(texts)) or [[3.0, 4.0 + len(t)] for t in texts])
    assert all(0 < s.score <= 1 for s in library.nearest(first, 2, short))
    assert asked == [1, 2]
    not_a_number = struct.pack("f", math.nan)
    for rubbish in (b"", b"abc", "text", 1.5, not_a_number):
        with sqlite3.connect(library.path / ".index.sqlite") as db:
            db.execute("update vectors set vector = ?", (rubbish,))
        db.close()
        embedded = []
        assert [s.name for s in library.nearest(first, 2, by_hand(embedded))] == ["near-1", "far-1"]
        assert len(embedded) == 3


# ------------------------------------------------------------------ what was recorded


def cut(folder, lines):
    path = folder / "trace.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))


def test_a_replay_is_identical_without_any_endpoint_whatever_became_of_the_library(url, library, tmp_path):
    result, _ = play(url, library, tmp_path / "run")
    library.change(library.get_by_name("near-1"), status="retired")
    assert replay(tmp_path / "run", env=Boxes()) == result


def test_a_resumed_episode_ends_alike_and_repeats_no_recorded_call(url, library, tmp_path):
    whole, _ = play(url, library, tmp_path / "whole")
    recorded = events(tmp_path / "whole", object)
    between = next(i for i, e in enumerate(recorded) if isinstance(e, SkillsChosen))
    for lines in range(1, len(recorded)):
        folder = tmp_path / str(lines)
        library.rebuild()
        play(url, library, folder)
        cut(folder, lines)
        library.rebuild()
        planned = any(isinstance(e, ModelCalled) for e in recorded[:lines])
        model = Model(url, *(() if planned else (PLAN.format(2),)))
        result = resume(folder, env=Boxes(), model=model, library=library.path)
        after = events(folder, object)
        assert result.success
        assert len(model.embedded) == (lines <= between)
        if lines == between:  # the vectors died with the process, and what they cost is counted
            assert isinstance(after.pop(lines), TextsEmbedded)
            assert result.model_calls == whole.model_calls + 1
            after[-1] = recorded[-1]
        assert [describe_difference(a, b) for a, b in zip(recorded, after, strict=True)] == [""] * len(recorded)
        replay(folder, env=Boxes())


def test_an_endpoint_that_fails_breaks_the_episode_off_before_anything_is_planned(serve, library, tmp_path):
    with pytest.raises(ModelError, match=r"failed \(500\)"):
        play(serve("500=1").url, library, tmp_path / "run")
    (failed,) = events(tmp_path / "run", ModelCallFailed)
    assert (failed.purpose, failed.messages) == ("embed", [])
    assert not events(tmp_path / "run", ModelCalled, SkillsChosen)
    model = Model(serve().url, PLAN.format(2))
    assert resume(tmp_path / "run", env=Boxes(), model=model, library=library.path).success
    assert not events(tmp_path / "run", ModelCallFailed)


def test_a_time_budget_spent_on_embedding_replays(serve, library, tmp_path):
    url = serve("slow=1,slow_by=5").url
    result, _ = play(url, library, tmp_path / "run", budget=Budget(seconds=1))
    assert result.reason == "budget: the budget of 1 seconds is spent"
    assert [e.purpose for e in events(tmp_path / "run", ModelCallFailed)] == ["embed"]
    assert replay(tmp_path / "run", env=Boxes()).reason == result.reason


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize("model", [Replies(PLAN), RoutedModel(Replies(PLAN), {"ask": Replies()})])
def test_a_model_without_embeddings_is_refused_before_any_call(library, model):
    with pytest.raises(UsageError, match=r"the model replies does not embed texts; leave the setting embeddings out"):
        run(Boxes(), "ball/2", model=model, library=library, embeddings="small")
    with pytest.raises(UsageError, match="the model scripted does not embed"):
        run("household", "heat/7", library=library, embeddings="small")


def test_invalid_settings_are_refused(library):
    class Store:
        def find(self, task, limit):
            return []

        def get(self, env, name):
            raise UsageError(name)

        def record(self, skill, trial):
            pass

    for settings, why in (
        ({}, "name a skill library too"),
        ({"library": str(library.path), "embeddings": " "}, "give the name of an embedding model"),
        ({"library": Store()}, r"the store <a Store> does not choose by embeddings"),
    ):
        with pytest.raises(UsageError, match=why):
            run(Boxes(), "ball/2", model=Replies(PLAN), **{"embeddings": "small"} | settings)
