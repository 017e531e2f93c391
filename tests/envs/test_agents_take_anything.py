"""Whatever a plan gives to an agent's methods, the agent answers or refuses: another exception would end the episode."""

import random

import pytest
from support.scienceworld_engine import needs_engine

from codeplan import envs
from codeplan.envs.miniwob.agent import MiniWobAgent
from codeplan.envs.scienceworld.agent import ROOMS, ScienceWorldAgent
from codeplan.episode.episode import build_agent
from codeplan.errors import AgentBroken
from codeplan.sandbox.host.agent_port import AgentPort
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.frames import pack_value, unpack_value
from codeplan.sandbox.protocol.limits import MAX_MESSAGE_CHARS
from codeplan.types import Observation

ODD = [
    *(None, True, 0, -1, 3.5, 10**30, 10**3900, float("nan")),
    *("", "x", "a b 1", "\n", "x" * 5_000, "(", "[0", "\x1b[2J"),
    *([], ["a"], [1], (), ("a", 1), {}, {"a": 1}, {"a": None}, {1: 2}, [[None]]),
]
CALLS = 400


def a_call(port, rng, words):
    """A call with a fitting number of odd arguments, or with words of the last observation."""
    method, signature = rng.choice(list(port._surface.signatures.items()))
    own = list(signature.parameters.values())[1:]
    count = rng.randint(sum(p.default is p.empty for p in own), len(own))
    arguments = [rng.choice(words if rng.random() < 0.6 else ODD) for _ in range(count)]
    return frames.CallFrame(method, [pack_value(a) for a in arguments], {})


def assert_answered_and_refused(answers, least=0.5, calls=CALLS):
    """At least a part of the calls have a result that a plan can read, the others are refused in a sentence."""
    refusals = [answer for answer in answers if isinstance(answer, frames.ErrorFrame)]
    results = [unpack_value(answer.value) for answer in answers if isinstance(answer, frames.ResultFrame)]
    assert len(refusals) + len(results) == calls and len(results) > calls * least
    for refusal in refusals:
        assert refusal.message.strip() and len(refusal.message) <= MAX_MESSAGE_CHARS + 100, refusal
        assert "Traceback" not in refusal.message


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["household", "textcraft", "webshop", "hotpotqa"])
def test_an_agent_answers_or_refuses_odd_arguments(name, seed):
    env, rng = envs.make(name), random.Random(seed)
    task = env.tasks(envs.splits(env)[0])[seed]
    last = [env.reset(task)]

    def act(action):
        last[0] = env.reset(task) if last[0].done else env.step(action)
        return last[0]

    port = AgentPort(build_agent(env, act, last[0]), str)
    answers = []
    for _ in range(CALLS):
        words = [*last[0].text.replace("[", " ").split()[:60], last[0].text[:30], "search", "1"]
        answers.append(port.answer(a_call(port, rng, words)))
        for attribute in port.attributes:
            assert isinstance(port.answer(frames.ReadFrame(attribute)), frames.ResultFrame)
    env.close()
    assert_answered_and_refused(answers)


def test_the_browsers_agent_answers_or_refuses_odd_arguments():
    rng, page = random.Random(1), Observation("Page:\n<p>x</p>")
    port = AgentPort(MiniWobAgent(lambda action: page, Observation("Task: click.\n\nPage:\n<p>x</p>")), str)
    answers = [port.answer(a_call(port, rng, ["//p", "//p", "enter", 5])) for _ in range(CALLS)]
    assert_answered_and_refused(
        answers, least=0.3
    )  # half of the methods take numbers, and a path or an XPath with them


SCIENCE = (
    "This room is called the kitchen. In it, you see: \n\ta cupboard. The cupboard door is closed. \nYou also see:\n"
    "\tA door to the hallway (that is closed)",
    "Ambiguous request: Please enter the number\n0:\topen door between a and b\n1:\topen door between b and c\n",
    "You move to the hallway.",
    "You move the x to the inventory.",
)


@pytest.mark.parametrize("seed", range(5))
def test_the_scientist_answers_or_refuses_odd_arguments(seed):
    rng = random.Random(seed)
    first = Observation(f"Your task is X.\nYou can take 100 actions.\n\n{SCIENCE[0]}")
    port = AgentPort(ScienceWorldAgent(lambda action: Observation(rng.choice(SCIENCE)), first), str)
    answers = []
    for _ in range(CALLS):
        answers.append(port.answer(a_call(port, rng, ["kitchen", "cupboard", "x", 0, 1, 10])))
        for attribute in port.attributes:
            assert isinstance(port.answer(frames.ReadFrame(attribute)), frames.ResultFrame)
    assert_answered_and_refused(answers, least=0.3)  # half of the words are numbers, which are no names


@needs_engine
def test_the_scientist_in_the_engine_answers_or_refuses_odd_arguments():
    env, rng = envs.make("scienceworld"), random.Random(1)
    task = envs.select(env, id="chemistry-mix/0")
    last = [env.reset(task)]

    def act(action):
        last[0] = env.reset(task) if last[0].done else env.step(action)
        return last[0]

    port = AgentPort(build_agent(env, act, last[0]), str)
    calls = CALLS // 4
    answers = [port.answer(a_call(port, rng, [*last[0].text.split()[:40], *ROOMS])) for _ in range(calls)]
    env.close()
    assert_answered_and_refused(answers, calls=calls)


def test_what_an_agent_does_not_expect_ends_the_run():
    class Fragile:
        def take(self, thing: str) -> str:
            return thing.upper()

    with pytest.raises(
        AgentBroken, match="^agent.take is broken: AttributeError: .*test_agents_take_anything.py, line"
    ):
        AgentPort(Fragile(), str).answer(frames.CallFrame("take", [3], {}))
