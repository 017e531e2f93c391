"""The index: which words of a text choose skills, how well a skill fits, and in which order skills come."""

import math
import sqlite3
from contextlib import closing

import pytest
from support.skill_samples import skill

from codeplan.skills.index import SCHEMA_VERSION, IndexEntry, SkillIndex, search_words
from codeplan.skills.skill import EvidenceSummary, SkillOrigin


@pytest.fixture
def index():
    with closing(SkillIndex(None)) as made:
        yield made


def put(index, name, description, solved=0, **more):
    made = skill(name, description=description, **{"origins": ()} | more)
    summary = EvidenceSummary(shown=solved, solved=solved)
    index.put_skill(f"{made.env}/{name}", "as it was", made, "digest", summary, ())


def put_many(index, word, count):
    with index.transaction():
        for number in range(count):
            put(index, f"{word}-{number}", "Do it.")


def names(found):
    return [entry.name for entry in found]


# ------------------------------------------------------------------ words


def test_a_search_takes_24_words_of_a_text():
    words = [f"w{number}" for number in range(25)]
    assert search_words(" ".join(words[:24])) == words[:24]
    assert search_words(" ".join(words)) == words[:24]


@pytest.mark.parametrize(("before", "found"), [(3_998, ["b"]), (3_999, [])])
def test_a_search_reads_4000_characters_of_a_text(before, found):
    assert search_words("a" * before + " b")[1:] == found


def test_the_eight_rarest_words_choose(index):
    for number in range(9):
        put(index, f"n-{number}", f"word{number}")
    put(index, "n-9", "word0")
    words = [f"word{number}" for number in range(9)]
    assert sorted(names(index.search(words[1:], 20))) == [f"n-{number}" for number in range(1, 9)]
    assert sorted(names(index.search(words, 20))) == [f"n-{number}" for number in range(1, 9)]
    assert sorted(names(index.search(words[:8], 20))) == [*(f"n-{number}" for number in range(8)), "n-9"]


def test_from_1000_skills_on_a_word_does_not_choose_for_a_task(index):
    put_many(index, "boil", 999)
    put(index, "proven", "Do it.", solved=1)
    assert names(index.rank_for_task("household", "heat", ["boil"], 1)) == ["boil-0"]
    put(index, "boil-more", "Do it.")
    assert names(index.rank_for_task("household", "heat", ["boil"], 1)) == ["proven"]


def test_a_search_for_common_words_alone_takes_the_first_of_them(index):
    put_many(index, "boil", 1_000)
    put_many(index, "fry", 1_000)
    assert {name.partition("-")[0] for name in names(index.search(["fry", "boil"], 3_000))} == {"fry"}


def test_a_word_of_a_skill_that_was_added_after_a_search_is_found(index):
    assert index.search(["kettle"], 5) == []
    put(index, "heat-1", "Boil a kettle.")
    assert names(index.search(["kettle"], 5)) == ["heat-1"]


# ------------------------------------------------------------------ scores and order


def bm25(occurrences, length, lengths, skills_with_word):
    """The score of a word by Robertson and Zaragoza, with the constants of FTS5."""
    rarity = math.log((len(lengths) - skills_with_word + 0.5) / (skills_with_word + 0.5))
    against = occurrences + 1.2 * (1 - 0.75 + 0.75 * length / (sum(lengths) / len(lengths)))
    return rarity * occurrences * 2.2 / against


def test_a_word_in_the_name_counts_twice_and_the_score_has_four_decimals(index):
    put(index, "anode-1", "Boil a kettle.")
    put(index, "kettle-1", "Boil some water.")
    for number in range(4):
        put(index, f"other-{number}", "Do a thing.")
    lengths = [8] * 6  # the words of each skill: three tags, two in the name, three in the description
    scores = [round(bm25(count, 8, lengths, 2), 4) for count in (2, 1)]
    found = index.search(["kettle"], 5)
    assert [(entry.name, entry.score) for entry in found] == list(zip(["kettle-1", "anode-1"], scores, strict=True))


def test_of_two_that_fit_alike_the_one_that_solved_more_comes_first(index):
    put(index, "heat-1", "Boil a kettle.", solved=1)
    put(index, "heat-2", "Boil a kettle.", solved=2)
    put(index, "heat-3", "Boil a kettle.", solved=2)
    assert names(index.search(["kettle"], 5)) == ["heat-2", "heat-3", "heat-1"]
    assert names(index.rank_for_task("household", "heat", ["kettle"], 5)) == ["heat-2", "heat-3", "heat-1"]
    assert names(index.usable("household", "heat")) == ["heat-2", "heat-3", "heat-1"]


def test_a_skill_for_any_kind_is_found_by_its_words(index):
    put(index, "any-1", "Put a kettle on.", kind="")
    put(index, "heat-1", "Do a thing.", solved=3)
    assert names(index.rank_for_task("household", "heat", ["kettle"], 5)) == ["any-1", "heat-1"]
    assert names(index.rank_for_task("household", "heat", [], 5)) == ["heat-1", "any-1"]


def test_entries_are_ordered_by_environment_kind_and_name(index):
    for env, kind, name in (("b", "cool", "a-1"), ("a", "heat", "a-2"), ("a", "cool", "b-1"), ("a", "cool", "a-3")):
        put(index, name, "Do it.", env=env, kind=kind, origins=(SkillOrigin("t", run="runs/1"),))
    assert names(index.entries()) == ["a-3", "b-1", "a-2", "a-1"]
    assert names(index.entries_of_run("runs/1")) == ["a-2", "a-3", "b-1", "a-1"]


def test_an_episode_without_a_trace_leads_to_no_skill(index):
    put(index, "heat-1", "Do it.", origins=(SkillOrigin("t", run=""),))
    assert index.entries_of_run("") == []


def test_faults_are_ordered_by_path(index):
    for path in ("b/1", "a/2", "a/1"):
        index.put_fault(path, "as it was", f"{path} is damaged")
    assert index.faults() == ["a/1 is damaged", "a/2 is damaged", "b/1 is damaged"]


def test_an_entry_is_what_was_put(index):
    made, summary = skill(version=3, pinned=True), EvidenceSummary(7, 6, 5, 4, 3, 2, True)
    index.put_skill("household/heat-1", "as it was", made, "digest", summary, ())
    state = (made.env, made.name, made.kind, made.status, True, 3, made.description, "digest")
    assert index.entries() == [IndexEntry(*state, summary)]
    assert index.entries("household", "heat", "active") == index.entries()
    assert index.entries("alfworld") == index.entries(kind="cool") == index.entries(status="retired") == []


# ------------------------------------------------------------------ the file


def test_a_removed_skill_leaves_nothing_to_the_next(index):
    put(index, "heat-1", "Boil a kettle.", origins=(SkillOrigin("t", run="runs/1"),))
    index.remove("household/heat-1")
    put(index, "heat-2", "Do it.")
    assert index.entries_of_run("runs/1") == index.search(["kettle"], 5) == []
    assert (names(index.entries()), list(index.signatures())) == (["heat-2"], ["household/heat-2"])


def test_a_cleared_index_has_no_entries_and_no_vectors(index):
    put(index, "heat-1", "Boil a kettle.", origins=(SkillOrigin("t", run="runs/1"),))
    index.put_vectors("small", {"digest": b"1234"})
    index.clear()
    put(index, "heat-2", "Do it.")
    assert index.entries_of_run("runs/1") == index.search(["kettle"], 5) == []
    assert (names(index.entries()), index.read_vectors("small", ["digest"])) == (["heat-2"], {})


def test_a_vector_that_is_stored_again_replaces_the_earlier_one(index):
    for vector in (b"1234", b"5678"):
        index.put_vectors("small", {"digest": vector})
    assert index.read_vectors("small", ["digest", "other"]) == {"digest": b"5678"}
    assert index.read_vectors("large", ["digest"]) == {}


def test_a_change_that_fails_halfway_leaves_nothing(index):
    def put_halfway():
        with index.transaction():
            put(index, "heat-2", "Do it.")
            raise ZeroDivisionError

    put(index, "heat-1", "Do it.")
    with pytest.raises(ZeroDivisionError):
        put_halfway()
    assert names(index.entries()) == ["heat-1"]


def test_an_index_of_another_version_is_made_again(tmp_path):
    def opened():
        with closing(SkillIndex(tmp_path / "index")) as made:
            found = names(made.entries())
            put(made, "heat-1", "Do it.")
            return found

    assert (opened(), opened()) == ([], ["heat-1"])
    with closing(sqlite3.connect(tmp_path / "index")) as db:
        db.execute(f"pragma user_version = {SCHEMA_VERSION + 1}")
    assert opened() == []
