"""HotpotQA as an environment: its questions, its actions, its settings."""

import json
import random

import pytest

from codeplan import envs
from codeplan.envs.hotpotqa.environment import HotpotQA, make
from codeplan.envs.hotpotqa.wiki import OfflineWiki, SimilarTitles, WikiPage, split_sentences
from codeplan.errors import UsageError
from codeplan.testing.environment import EnvironmentContract
from codeplan.types import Observation, Task

OWN = HotpotQA()
EVERY = [task for split in OWN.splits for task in OWN.tasks(split)]


def item(id, question="Which?", answer="this", kind="bridge", context=(("A page", ["One.", " Two."]),), **more):
    return {
        "_id": id,
        "question": question,
        "answer": answer,
        "type": kind,
        "context": context,
        "level": "hard",
        **more,
    }


def written(path, *items):
    path.write_text(json.dumps(list(items)))
    return str(path)


class TestHotpotQAIsAnEnvironment(EnvironmentContract):
    def make(self):
        return HotpotQA()


class TestHotpotQAWithThePapersAgentIsAnEnvironment(EnvironmentContract):
    def make(self):
        return HotpotQA(agent="paper")


class TestHotpotQAOverAFileIsAnEnvironment(EnvironmentContract):
    non_winning_action = "finish[that]"
    split = "dev"

    @pytest.fixture(autouse=True)
    def _file(self, tmp_path):
        self.file = written(tmp_path / "hotpot_dev.json", item("a", "What?"), item("b", "Who?"))

    def make(self):
        return make(data=self.file)


def begun(pages=None, answer="this", **settings):
    """An environment at the start of a question over these pages."""
    env = HotpotQA(Asked(pages or {}, answer), **settings)
    env.reset(Task("q"))
    return env


class Asked:
    """A single question over given pages."""

    splits = ("test",)

    def __init__(self, pages, answer):
        self.pages, self.answer, self.task = pages, answer, Task("q", "hotpotqa", "bridge", "Which?")

    def tasks(self, split):
        return [self.task]

    def question(self, id):
        return self


# ------------------------------------------------------------------ the questions that come along


def test_there_are_25_questions_over_32_articles():
    assert {s: len(OWN.tasks(s)) for s in OWN.splits} == {"test": 17, "dev": 4, "train": 4}
    assert len(OWN._questions.question("bridge/1").pages) == 32
    assert {t.kind for t in EVERY} == {"bridge", "comparison"}
    assert all(t.id.split("/")[0] == t.kind for t in EVERY)


@pytest.mark.parametrize("split", OWN.splits)
def test_seeds_number_the_questions_of_a_split(split):
    assert [t.seed for t in OWN.tasks(split)] == list(range(len(OWN.tasks(split))))
    assert envs.select(envs.make("hotpotqa"), seed=2, split=split) == OWN.tasks(split)[2]


@pytest.mark.parametrize("task", EVERY, ids=lambda t: t.id)
def test_every_answer_is_right_and_can_be_found(task):
    question = OWN._questions.question(task.id)
    assert OWN.score(task, question.answer).em
    where = task.goal if question.answer in ("yes", "no") else "\n".join([task.goal, *question.pages.values()])
    assert question.answer in where or question.answer in ("yes", "no")


def test_sentences_of_articles_are_split_correctly():
    for title, text in OWN._questions.question("bridge/1").pages.items():
        assert title.split(" (")[0] in text
        assert all(s.removesuffix(".").count(". ") == 0 and len(s.split()) > 3 for s in split_sentences(text))


# ------------------------------------------------------------------ actions


def test_an_episode_reads_and_finishes():
    env = HotpotQA()
    assert env.reset(Task("bridge/2")) == Observation("Question: In which city was the composer of Fidelio born?")
    assert env.step("search[Fidelio]").text.startswith("Fidelio is an opera in two acts, composed by Ludwig van")
    assert env.step("search[Ludwig van Beethoven]").text.endswith("a single opera, Fidelio.")
    assert env.step("lookup[born]").text == "(Result 1 / 1) He was born in Bonn in 1770."
    assert env.step("finish[Bonn]") == Observation("Episode finished, reward = 1\n", 1.0, done=True, success=True)
    assert env.step("finish[Bonn]") == Observation("The episode is over.", done=True, success=True)
    assert env.snapshot().answer == "Bonn"


def test_thoughts_are_acknowledged_and_anything_else_is_invalid():
    env = begun()
    assert env.step("think[I wonder]").text == "Nice thought."
    for action in ("Search[A]", "search[A", "search", "search [A]", "buy[A]", "searching[A]"):
        assert env.step(action).text == f"Invalid action: {action}"
    assert env.step("  lookup[x]\n").text == "No more results.\n"


def test_brackets_within_an_action_belong_to_its_argument():
    assert begun().step("search[a[1] ]").text == "Could not find a[1] . Similar: []."


def test_a_page_shows_five_sentences_and_the_last_of_a_paragraph_ends_with_two_stops():
    env = begun({"A": "One. Two.\n\n  Three?  \nFour. Five. Six.", "B": "One. Two."})
    assert env.step("search[A]").text == "One. Two.. Three?. Four. Five."
    assert env.step("search[B]").text == "One. Two.."


def test_lookup_iterates_over_sentences_and_restarts_for_another_word_or_page():
    env = begun({"A": "A cat. A dog. The CAT again. A cow.", "B": "No pets."})
    assert env.step("lookup[cat]").text == "No more results.\n"
    env.step("search[A]")
    assert [env.step("lookup[cat]").text for _ in range(4)] == [
        *("(Result 1 / 2) A cat.", "(Result 2 / 2) The CAT again."),
        *("No more results.\n", "No more results.\n"),
    ]
    assert env.step("lookup[dog]").text == "(Result 1 / 1) A dog."
    assert env.step("lookup[cat]").text == "(Result 1 / 2) A cat."
    env.step("search[A]")
    assert env.step("lookup[cat]").text == "(Result 1 / 2) A cat."
    env.step("search[B]")
    assert env.step("lookup[cat]").text == "No more results.\n"


def test_a_search_without_a_result_keeps_the_page_and_position():
    env = begun({"A": "A cat. Another cat."})
    env.step("search[A]")
    env.step("lookup[cat]")
    assert env.step("search[Nothing]").text == "Could not find Nothing. Similar: []."
    assert env.step("lookup[cat]").text == "(Result 2 / 2) Another cat.."


def test_a_disambiguation_page_is_searched_again_in_brackets():
    pages = {
        "Mercury": "Mercury may refer to:\nMercury (planet), a planet",
        "Mercury (planet)": "A planet called Mercury.",
    }
    text = begun(pages).step("search[Mercury]").text
    assert text.startswith("Could not find [Mercury]. Similar: ['Mercury")
    assert "'Mercury (planet)'" in text


def test_a_snapshot_restores_the_open_page_and_position():
    env = begun({"A": "A cat. Another cat."})
    env.step("search[A]")
    kept = env.snapshot()
    once = [env.step(a) for a in ("lookup[cat]", "lookup[cat]", "finish[this]")]
    env.restore(kept)
    assert [env.step(a) for a in ("lookup[cat]", "lookup[cat]", "finish[this]")] == once


def test_with_reward_f1_success_is_still_an_exact_match():
    env = begun(answer="the North Sea", reward="f1")
    assert env.step("finish[sea]") == Observation(
        "Episode finished, reward = 0.666667\n", pytest.approx(2 / 3), done=True
    )


# ------------------------------------------------------------------ the offline encyclopedia


def test_titles_are_found_regardless_of_case_but_exact_matches_come_first():
    wiki = OfflineWiki({"Band": "a", "BAND": "b"})
    assert wiki.search("BAND") == WikiPage("BAND", "b")
    assert wiki.search(" band ") == WikiPage("Band", "a")


def test_similar_titles_are_ranked_by_title_words_then_text_words():
    pages = {f"Page {n}": "A band." for n in range(9)}
    wiki = OfflineWiki({**pages, "Scatman": "x", "Other": "All of the scatman band there is"})
    assert wiki.search("the scatman's band").titles[:2] == ("Scatman", "Other")
    assert len(wiki.search("band").titles) == 5


@pytest.mark.parametrize(
    "words", ['"', "* ^ :", "NEAR(", "a OR", "title:x", "-", "'; DROP TABLE pages", "\0", "\ud800", "w " * 9999]
)
def test_a_search_never_uses_sqlite_s_query_syntax(words):
    assert isinstance(OfflineWiki({"A": "text"}).search(words), SimilarTitles)


# ------------------------------------------------------------------ the user's files


def test_questions_of_a_file_use_their_own_pages(tmp_path):
    mine = (("A page", ["One.", " Two."]), ("Another", []))
    env = make(
        data=written(tmp_path / "hotpot_dev_distractor_v1.json", item("x1", " Which? ", context=mine), item("x2"))
    )
    assert env.splits == ("dev",)
    assert env.tasks("dev")[0] == Task("x1", "hotpotqa", "bridge", "Which?", 0, "dev")
    env.reset(env.tasks("dev")[0])
    assert env.step("search[A page]").text == "One. Two.."
    assert env.step("search[Another]").text == ""
    env.reset(Task("x2"))
    assert env.step("search[Another]").text.startswith("Could not find Another. Similar: []")


def test_files_of_a_folder_become_splits_by_name(tmp_path):
    for name, id in (("hotpot_train_v1.1.json", "a"), ("hotpot_dev_distractor_v1.json", "b"), ("mine.json", "c")):
        written(tmp_path / name, item(id))
    env = make(data=str(tmp_path))
    assert env.splits == ("test", "dev", "train")
    assert [env.tasks(s)[0].id for s in env.splits] == ["c", "b", "a"]


def test_the_complete_development_set_has_react_s_500_questions(tmp_path):
    env = make(data=written(tmp_path / "dev.json", *(item(f"q{n}") for n in range(7405))))
    chosen = env.tasks("react-500")
    assert env.splits == ("dev", "react-500")
    assert len({t.id for t in chosen}) == 500
    order = list(range(7405))
    random.Random(233).shuffle(order)
    assert [t.seed for t in chosen] == order[:500]
    assert order[0] == 3687, "the first question of ReAct's runs"
    assert env.reset(chosen[0]).text == "Question: Which?"
    assert make(data=written(tmp_path / "less_dev.json", item("a"))).tasks("react-500") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, "is not a file of HotpotQA questions") for text in ("", "{}", "[" * 100_000, '[{"_id":"\udcff"}]')),
        ("[]", "there are no questions"),
        (json.dumps([{k: v for k, v in item("a").items() if k != "answer"}]), "`answer`"),
        (json.dumps([item("a", kind="other")]), "'other'"),
        (json.dumps([item("a"), item("a")]), "twice"),
        (json.dumps([item("a", context=[["t"]])]), "is not in HotpotQA's form"),
        ('[{"_id":"a","question":"q","answer":"a","type":"bridge","context":%s}]' % ("[" * 9999 + "]" * 9999), "not "),
    ],
)
def test_an_invalid_file_is_refused_with_its_name_and_the_reason(tmp_path, text, message):
    (tmp_path / "mine.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError, match="mine.json") as refused:
        make(data=str(tmp_path / "mine.json")).reset(Task("a"))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["nothing.json", ".", "\0"])
def test_a_missing_file_is_reported_with_advice(tmp_path, name):
    with pytest.raises(UsageError, match="distractor"):
        make(data=f"{tmp_path}/{name}").tasks("test")


def test_an_unknown_question_is_refused_with_an_example_id():
    with pytest.raises(UsageError, match=r"no question 'x{80}'… here; an id looks like 'bridge/1'"):
        HotpotQA().reset(Task("x" * 1000))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"actions": 0}, "from 1 up"),
        ({"actions": True}, "int"),
        ({"reward": "bleu"}, "'bleu'"),
        ({"before": "2017-10-01"}, "live=true"),
        ({"contact": "me@example.org"}, "live=true"),
        ({"live": True}, "contact=me@example.org"),
        ({"live": True, "contact": "nobody"}, "e-mail"),
        ({"live": True, "contact": "me@example.org\r\nX: y"}, "e-mail"),
        ({"live": True, "contact": "me@example.org", "before": "yesterday"}, "2017-10-01"),
        ({"live": True, "contact": "me@example.org", "url": "ftp://x"}, "MediaWiki"),
        (
            {"live": True, "contact": "me@example.org", "url": "https://me:secret@example.org/w/api.php"},
            "without a login",
        ),
        ({"live": True, "contact": "me@example.org", "interval": -1.0}, "interval"),
    ],
)
def test_an_invalid_setting_is_refused(settings, message):
    with pytest.raises(UsageError) as refused:
        envs.make("hotpotqa", **settings)
    assert message in str(refused.value)
