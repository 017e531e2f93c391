"""HotpotQA's own questions, by the rules that ReAct has, written again here; and recorded episodes, as far as they go.

The recorded episodes were played on Wikipedia as it was in 2022, through another tool; the questions' own pages are
the introductions of ten articles in 2017. So verdicts must be the same; a search must find no more than was found then,
and misses where the page is not one of the ten; what is read must be about the same thing.
"""

import ast
import re
from collections import Counter

import pytest
from support.hotpotqa_files import questions, questions_file, transcripts

from codeplan.envs.hotpotqa.environment import make


@pytest.fixture(scope="module")
def env():
    return make(data=questions_file(), actions=10_000)


def cut(page):
    """A page's sentences, split at line ends, then at a full stop with a space; each gets a full stop."""
    pieces = [piece.strip() for paragraph in page.split("\n") for piece in paragraph.strip().split(". ")]
    return [piece + "." for piece in pieces if piece]


def test_there_are_100_questions_with_their_ids_kinds_and_words(env):
    tasks = env.tasks("test")
    assert [(t.id, t.kind, t.goal) for t in tasks] == [
        (q["_id"], q["type"], q["question"].strip()) for q in questions()
    ]
    assert Counter(t.kind for t in tasks) == {"bridge": 85, "comparison": 15}


def test_searches_and_lookups_answer_by_react_s_rules(env):
    searched = looked_up = 0
    for task, question in zip(env.tasks("test"), questions(), strict=True):
        assert env.reset(task).text == f"Question: {question['question'].strip()}"
        for title, text in question["context"]:
            expected = cut("".join(text))
            assert env.step(f"search[{title}]").text == " ".join(expected[:5])
            searched += 1
            for word in words(question, title):
                hits = [s for s in expected if word.lower() in s.lower()]
                answers = [env.step(f"lookup[{word}]").text for _ in range(len(hits) + 2)]
                assert answers[:-2] == [f"(Result {n} / {len(hits)}) {hit}" for n, hit in enumerate(hits, 1)]
                assert answers[-2:] == ["No more results.\n"] * 2
                looked_up += len(answers)
    assert (searched, looked_up > 5000) == (1000, True)


def words(question, title):
    """Words to look up: the answer, the title, a frequent word, and one that no page contains."""
    return dict.fromkeys((question["answer"], title, title.split()[0].upper(), "the", "was", "qqq"))


def test_a_misspelt_title_offers_the_right_one(env):
    for task, question in zip(env.tasks("test"), questions(), strict=True):
        env.reset(task)
        for title in {title for title, _ in question["supporting_facts"]}:
            text = env.step(f"search[{title} qqq]").text
            beginning = f"Could not find {title} qqq. Similar: "
            assert text.startswith(beginning)
            offered = ast.literal_eval(text.removeprefix(beginning).removesuffix("."))
            assert title in offered
            assert len(offered) == len(set(offered)) <= 5


def test_only_the_right_answer_wins_a_question(env):
    tasks, answers = env.tasks("test"), [q["answer"] for q in questions()]
    for task, answer, wrong in zip(tasks, answers, ["qqq", *answers], strict=False):
        env.reset(task)
        assert env.step(f"finish[{answer}]").text == "Episode finished, reward = 1\n"
        env.reset(task)
        assert env.step(f"finish[{wrong}]").success == (wrong == answer)


# ------------------------------------------------------------------ recorded episodes


class Replayed:
    """Replays all recorded episodes. Returns recorded and current observations by type of action."""

    def __init__(self, env):
        tasks = {task.goal: task for task in env.tasks("test")}
        contexts = {q["question"].strip(): {title.lower() for title, _ in q["context"]} for q in questions()}
        self.steps = []
        self.ends = []
        for episode in transcripts():
            goal = episode["goal"].strip()
            env.reset(tasks[goal])
            for step in episode["steps"]:
                name, words = re.fullmatch(r"(Search|Lookup|Finish)\[(.*)\]", step["action"]).groups()
                now = env.step(f"{name.lower()}[{words}]")
                self.steps.append((name, step["observation"], now, words.lower() in contexts[goal]))
            self.ends.append((episode["success"], env.snapshot().success))

    def of(self, name):
        return [(then, now, known) for n, then, now, known in self.steps if n == name]


@pytest.fixture(scope="module")
def replayed(env):
    return Replayed(env)


def test_all_92_recorded_answers_get_the_same_verdict_and_all_100_episodes_end_alike(replayed):
    finished = replayed.of("Finish")
    assert len(finished) == 92
    assert all(now.success == (then == "Answer is CORRECT") and now.done for then, now, _ in finished)
    assert len(replayed.ends) == 100
    assert all(then == now for then, now in replayed.ends)


def test_of_239_recorded_searches_183_find_or_miss_alike_and_the_others_are_for_pages_beyond_the_ten(replayed):
    counts = Counter((missed(then), missed(now.text), known) for then, now, known in replayed.of("Search"))
    assert counts == {
        (False, False, True): 104,  # found then and now
        (True, True, False): 79,  # missed then and now
        (False, True, False): 56,  # found then; now it is not one of the question's ten pages
    }


def test_all_11_recorded_lookups_hit_or_miss_alike(replayed):
    looked_up = replayed.of("Lookup")
    assert len(looked_up) == 11
    assert all((then == "No Results") == now.text.startswith("No more results") for then, now, _ in looked_up)


def missed(text):
    return text.startswith("Could not find")
