"""HotpotQA's agent, and the worked examples that show how plans use it."""

import pytest
from support.scripted_agents import scripted

from codeplan.envs.hotpotqa.agent import HotpotQAAgent, PaperHotpotQAAgent
from codeplan.envs.hotpotqa.environment import HotpotQA
from codeplan.prompts.templates import Prompts
from codeplan.runner.given_plans import execute
from codeplan.types import Finished, Observation, Stopped

FIRST = Observation("Question: Where was Ada born?")
EXAMPLES = {"bridge": "bridge/15", "comparison": "comparison/9"}


def answering(*texts):
    """An agent that gets these answers, and the list of its actions."""
    return scripted(HotpotQAAgent, FIRST, *texts)


def test_its_methods_take_the_environment_s_actions_and_return_their_observations():
    agent, done = answering("a page", "(Result 1 / 1) x.", "Episode finished, reward = 1\n")
    assert (agent.search("Ada"), agent.lookup("born"), agent.answer) == ("a page", "(Result 1 / 1) x.", None)
    assert agent.finish("London") == "Episode finished, reward = 1\n"
    assert done == ["search[Ada]", "lookup[born]", "finish[London]"]
    assert agent.answer == "London"


def test_similar_titles_are_a_list_until_a_page_is_open():
    odd = ["Ada's \\ end", 'say "x"', "new\nline", 'it\'s "both"']
    agent, _ = answering(
        f"Could not find Ada. Similar: {odd}.", "Ada was. Similar: ['x'].", "Could not find x. Similar: []."
    )
    assert (agent.page, agent.similar) == (None, [])
    assert agent.search("Ada").startswith("Could not find")
    assert (agent.page, agent.similar) == (None, odd)
    agent.search("Ada Lovelace")
    assert (agent.page, agent.similar) == ("Ada Lovelace", [])
    agent.search("x")
    assert (agent.page, agent.similar) == ("Ada Lovelace", [])


def test_a_page_that_only_looks_like_a_list_of_titles_is_harmless():
    agent, _ = answering(r"Could not find x. Similar: ['\x', '\N{', 'a' 'b', " + "[" * 9_000)
    agent.search("x")
    assert agent.similar == ["a", "b"]


def test_a_disambiguation_page_offers_its_titles_as_a_list():
    env = HotpotQA()
    agent = HotpotQAAgent(env.step, env.reset(env.tasks("train")[0]))
    agent.search("Mercury")
    assert agent.page is None
    assert agent.similar[0].startswith("Mercury")


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("One. Two..", "One. Two."),
        ("One.. Is it?. Yes!.", "One. Is it? Yes!"),
        ("He waited... Then.", "He waited... Then."),
        ("(Result 1 / 1) Born in 1.5 BC..", "(Result 1 / 1) Born in 1.5 BC."),
        ("No more results.\n", "No more results.\n"),
    ],
)
def test_no_sentence_ends_with_a_second_full_stop(sent, read):
    agent, _ = answering(sent, sent)
    assert agent.search("x") == read
    assert agent.lookup("x") == read


def test_all_sentences_with_a_string_are_a_list_and_none_is_shown_twice():
    agent, done = answering("page", "(Result 1 / 2) A..", "(Result 2 / 2) B.", "No more results.\n")
    agent.search("x")
    assert agent.lookup("a") == "(Result 1 / 2) A."
    assert agent.lookup_all("a") == ["A.", "B."]
    assert agent.lookup_all("a") == ["A.", "B."]
    assert done == ["search[x]", *["lookup[a]"] * 3]


def test_a_page_with_many_matches_shows_ten():
    agent, done = answering(*(f"(Result {n} / 99) Sentence {n}." for n in range(1, 100)))
    assert agent.lookup_all("s") == [f"Sentence {n}." for n in range(1, 11)]
    assert len(done) == 10


def test_a_string_that_the_page_lacks_has_no_sentences():
    agent, _ = answering("No more results.\n")
    assert agent.lookup_all("zzz") == []


def test_it_reports_the_question_and_the_shortened_last_observation():
    agent, _ = answering("No more results.\n", "x" * 1000)
    assert agent.report() == "My question is: Where was Ada born? I have not acted yet."
    agent.lookup("born")
    assert agent.report().endswith("Last action: 'lookup[born]'; it answered: 'No more results.'")
    agent.search("x")
    assert len(agent.report()) < 500


# ------------------------------------------------------------------ the worked examples


@pytest.mark.parametrize("agent", ["full", "paper"])
@pytest.mark.parametrize(("kind", "id"), EXAMPLES.items())
def test_a_worked_example_answers_a_question_of_train(kind, id, agent):
    sample = Prompts.cached().sample("hotpotqa/paper" if agent == "paper" else "hotpotqa", kind)
    task = next(t for t in HotpotQA().tasks("train") if t.id == id)
    assert sample.startswith(f"# Question: {task.goal}\n")
    done = execute(sample, HotpotQA(agent=agent), id)
    assert done.result.success
    assert isinstance(done.outcome, Finished)
    assert done.result.asks == {"bridge": 1, "comparison": 0}[kind]


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_worked_example_fails_with_similar_titles_if_a_page_is_missing(kind):
    sample = Prompts.cached().sample("hotpotqa", kind).replace("read('The Bartered Bride'", "read('The Battered Bride'")
    done = execute(sample.replace("kilometres('Po')", "kilometres('Po river')"), "hotpotqa", EXAMPLES[kind])
    assert not isinstance(done.outcome, Finished | Stopped)
    assert done.outcome.step == 1
    assert "one of [" in done.outcome.message
    assert "Similar: [" in done.outcome.message


@pytest.mark.parametrize(("folder", "agent"), [("hotpotqa", "full"), ("hotpotqa/paper", "paper")])
def test_a_worked_example_reads_no_sentence_twice_and_asks_after_reading(folder, agent):
    asked = []

    def answer(messages):
        asked.append(messages[-1]["content"])
        return "'Bedřich Smetana'"

    execute(Prompts.cached().sample(folder, "bridge"), HotpotQA(agent=agent), EXAMPLES["bridge"], model=answer)
    (question,) = asked
    assert question.count("composed by Bedřich Smetana") == 1


def test_the_paper_s_agent_returns_react_s_own_text():
    sent = ["One. Two..", "(Result 1 / 1) Two..", "No more results.\n", "Episode finished, reward = 1\n"]
    agent, done = scripted(PaperHotpotQAAgent, FIRST, *sent)
    assert [agent.search("Ada"), agent.lookup("w"), agent.lookup("w"), agent.finish("London")] == sent
    assert done == ["search[Ada]", "lookup[w]", "lookup[w]", "finish[London]"]
    assert agent.report().startswith("My question is: Where was Ada born? Last action: 'finish[London]'")
