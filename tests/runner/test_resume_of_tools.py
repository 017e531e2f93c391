"""An episode with tools is resumed in the world as it is: what was answered is not called again."""

import json

import pytest
from support.boxes import Boxes, Replies

import codeplan
from codeplan import CallInDoubt, UsageError
from codeplan.errors import Diverged, EnvironmentFailure
from codeplan.recording.events import CallAnswered, CallBegun, CallDecided, DoubtDecided, EpisodeEnded, ValueJudged
from codeplan.recording.trace import Trace, describe_difference
from codeplan.tools import ToolEnvironment, Toolset, python_tools
from codeplan.untrusted.values import shown_call

FIRST = """
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] send two')
        a = agent.send('ann', 1)
        b = agent.send('bob', 2)
        assert b == 2, 'Error in [Step 1]: nothing was sent'
    if start_from <= 2:
        print('[Step 2] fail')
        try:
            agent.fail('x')
        except LookupError as e:
            print('caught', e)
        assert agent.send('cid', 3) == 4, f'Error in [Step 2]: the wrong number. {agent.report()}'
    return a + b
"""
SECOND = FIRST.replace("== 4", "== 3").replace("'cid', 3", "'dan', 3").replace("[Step 2] fail", "[Step 2] better")
CALLS = ["send ann 1", "send bob 2", "fail x", "send cid 3", "fail x", "send dan 3"]


class World:
    """Logs each call. ``asked`` are the calls that somebody was asked to approve."""

    def __init__(self, log=()):
        self.log = list(log)
        self.asked = []
        self.approves = True

    def tools(self):
        def send(to: str, number: int) -> int:
            """Send a number."""
            self.log.append(f"send {to} {number}")
            return number

        def fail(key: str) -> None:
            self.log.append(f"fail {key}")
            raise LookupError(f"no {key}")

        return [send, fail]

    def approve(self, call):
        self.asked.append(call.tool)
        return self.approves

    def options(self):
        return {"tools": self.tools(), "verify": lambda value: value == 3, "ask": ["fail"], "approve": self.approve}


@pytest.fixture
def whole(tmp_path):
    """The folder of a whole episode, which has refined a plan once."""
    world = World()
    model = Replies(FIRST, SECOND)
    assert codeplan.do("send them", model=model, out=tmp_path / "whole", **world.options()).success
    assert world.log == CALLS and world.asked == ["fail", "fail"]
    return tmp_path / "whole"


def cut(whole, folder, count, torn=b""):
    """A folder with the first events of an episode, and the piece of a line."""
    folder.mkdir()
    lines = (whole / "trace.jsonl").read_bytes().splitlines(keepends=True)[:count]
    (folder / "trace.jsonl").write_bytes(b"".join(lines) + torn)
    return folder


def cut_at(whole, folder, kind, number=0):
    """A folder with the events up to this one of a kind, and this one included."""
    found = [e.seq for e in Trace.read(whole / "trace.jsonl") if isinstance(e, kind)]
    return cut(whole, folder, found[number] + 1)


def done_before(events):
    """The calls that these events tell of, and whether the last one is in doubt."""
    begun = [e.call for e in events if isinstance(e, CallBegun)]
    answered = sum(isinstance(e, CallAnswered) for e in events)
    return [" ".join([c.name, *map(str, c.arguments.values())]) for c in begun], len(begun) > answered


def resume(folder, world, *replies, **options):
    return codeplan.resume(folder, model=Replies(*replies), **(world.options() | options))


def replies_left(events):
    return [FIRST, SECOND][sum(type(e).__name__ == "ModelCalled" for e in events) :]


def same(events, others):
    assert [describe_difference(a, b) for a, b in zip(events, others, strict=True)] == [""] * len(events)


def test_an_episode_killed_anywhere_ends_alike_and_makes_each_call_once(whole, tmp_path):
    events = Trace.read(whole / "trace.jsonl")
    doubts = 0
    for count in range(1, len(events)):
        folder = cut(whole, tmp_path / str(count), count, b'{"event":"call_b')
        calls, in_doubt = done_before(events[:count])
        world = World(calls)
        if in_doubt:
            doubts += 1
            before = (folder / "trace.jsonl").read_bytes()
            with pytest.raises(CallInDoubt) as stopped:
                resume(folder, world, *replies_left(events[:count]))
            assert f"{stopped.value.tool} " in calls[-1] and world.log == calls
            assert (folder / "trace.jsonl").read_bytes() == before
            result = resume(folder, world, *replies_left(events[:count]), in_doubt="retry")
            assert world.log == [*calls, *CALLS[len(calls) - 1 :]]
        else:
            result = resume(folder, world, *replies_left(events[:count]))
            assert world.log == CALLS
            same(events, Trace.read(folder / "trace.jsonl"))
        assert result.success and codeplan.replay(folder) == result
    assert doubts == len(CALLS) + 2  # a tool that failed was begun, and its failure is on the trace before the answer


def test_an_interrupted_call_is_in_doubt(tmp_path):
    def send(to: str) -> str:
        log.append(to)
        if log == ["ann"]:
            raise KeyboardInterrupt
        return to

    log = []
    plan = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        x = agent.send('ann')\n    return x"
    with pytest.raises(KeyboardInterrupt):
        codeplan.do("send", tools=send, model=Replies(plan), out=tmp_path / "run")
    with pytest.raises(CallInDoubt, match=r"send\(to='ann'\); find out, then resume with --in-doubt retry"):
        codeplan.resume(tmp_path / "run", tools=send, model=Replies())
    assert codeplan.resume(tmp_path / "run", tools=send, model=Replies(), in_doubt="retry").value == "ann"
    assert log == ["ann", "ann"]


# ------------------------------------------------------------------ ways on


@pytest.mark.parametrize(
    ("options", "way", "by", "pattern"),
    [
        ({"in_doubt": "skip"}, "skip", "option", ""),
        ({"in_doubt": lambda tool, arguments: "retry" if arguments["number"] == 2 else "stop"}, "retry", "user", ""),
        ({"idempotent": ["s*"], "in_doubt": "skip"}, "retry", "pattern", "s*"),
    ],
)
def test_the_decision_is_on_the_trace(whole, tmp_path, options, way, by, pattern):
    folder, world = cut_at(whole, tmp_path / "cut", CallBegun, 1), World(CALLS[:2])
    result = resume(folder, world, *[SECOND] * 2, **options)
    events = Trace.read(folder / "trace.jsonl")
    (decided,) = [e for e in events if isinstance(e, DoubtDecided)]
    assert (decided.tool, decided.way, decided.by, decided.pattern) == ("send", way, by, pattern)
    begun, answered = (next(e for e in events if isinstance(e, k) and e.id == 2) for k in (CallBegun, CallAnswered))
    assert (decided.id, shown_call(begun.call)) == (2, "send(to='bob', number=2)")
    answer = answered.answer
    assert (answer.value, answer.error) == ((2, "") if way == "retry" else (None, "ConnectionError"))
    assert world.log[2] == ("send bob 2" if way == "retry" else "send ann 1")
    assert codeplan.replay(folder) == result


def test_an_asynchronous_function_decides(whole, tmp_path):
    async def decide(tool, arguments):
        return "retry"

    folder, world = cut_at(whole, tmp_path / "cut", CallBegun), World(CALLS[:1])
    assert resume(folder, world, SECOND, in_doubt=decide).success


def test_a_retry_asks_for_approval_again_and_an_answered_call_does_not(whole, tmp_path):
    folder, world = cut_at(whole, tmp_path / "cut", CallBegun, 2), World(CALLS[:3])
    assert resume(folder, world, SECOND, in_doubt="retry").success
    assert world.asked == ["fail", "fail"]
    folder, world = cut_at(whole, tmp_path / "other", CallAnswered, 2), World(CALLS[:3])
    assert resume(folder, world, SECOND).success
    assert world.asked == ["fail"]


def test_a_retry_that_is_refused_makes_no_call(whole, tmp_path):
    folder, world = cut_at(whole, tmp_path / "cut", CallBegun), World(CALLS[:1])
    world.approves = False
    resume(folder, world, *[FIRST] * 6, in_doubt="retry", ask=["send"])
    assert world.log.count("send ann 1") == 1
    decided = [e for e in Trace.read(folder / "trace.jsonl") if isinstance(e, DoubtDecided | CallDecided)]
    assert isinstance(decided[0], DoubtDecided) and isinstance(decided[1], CallDecided) and not decided[1].allowed


def test_a_call_may_be_in_doubt_twice(whole, tmp_path):
    folder, world = cut_at(whole, tmp_path / "cut", CallBegun, 2), World(CALLS[:3])
    assert resume(folder, world, SECOND, in_doubt="retry").success
    again = cut_at(folder, tmp_path / "again", CallBegun, 3)
    with pytest.raises(CallInDoubt):
        resume(again, World(), SECOND)
    result = resume(again, World(), SECOND, in_doubt="retry")
    begun = [e for e in Trace.read(again / "trace.jsonl") if isinstance(e, CallBegun)]
    assert result.success and len(begun) == len(CALLS) + 2
    assert codeplan.replay(again) == result


def test_a_call_that_was_refused_is_not_in_doubt_but_is_if_it_is_made_later(tmp_path):
    def send(to: str) -> str:
        log.append(to)
        return to

    log = []
    lines = ["try:", "    x = agent.send('ann')", "except PermissionError:", "    x = 'refused'", "assert x"]
    body = "".join(f"        {line}\n" for line in lines)
    source = f"def solution(agent, start_from=1):\n    if start_from <= 1:\n{body}    return x"
    result = codeplan.do("send", tools=send, approve=lambda call: False, model=Replies(source), out=tmp_path / "run")
    assert (result.value, log) == ("refused", [])
    folder = cut_at(tmp_path / "run", tmp_path / "refused", CallBegun)
    assert codeplan.resume(folder, tools=send, model=Replies()).value == "ann" and log == ["ann"]
    made = cut_at(folder, tmp_path / "made", CallBegun, 1)
    with pytest.raises(CallInDoubt, match="ann"):
        codeplan.resume(made, tools=send, model=Replies())
    assert codeplan.replay(folder).value == "ann" and log == ["ann"]


def test_a_decision_that_nothing_followed_is_taken_again(whole, tmp_path):
    folder = cut_at(whole, tmp_path / "cut", CallBegun)
    assert resume(folder, World(CALLS[:1]), SECOND, in_doubt="retry").success
    again = cut_at(folder, tmp_path / "again", DoubtDecided)
    with pytest.raises(CallInDoubt):
        resume(again, World(), SECOND)


@pytest.mark.parametrize(
    ("in_doubt", "error", "message"),
    [
        ("again", UsageError, "in_doubt is retry, skip or stop, not 'again'"),
        ("", UsageError, "in_doubt is retry, skip or stop, not ''"),
        (None, UsageError, r"in_doubt must be a function in_doubt\(tool, arguments\)"),
        (lambda tool: "skip", UsageError, "its signature is another one"),
        (lambda tool, arguments: True, UsageError, "the function in_doubt returns retry, skip or stop, not True"),
        (lambda tool, arguments: 1 / 0, EnvironmentFailure, "decides about calls in doubt failed: ZeroDivisionError"),
    ],
)
def test_an_answer_that_is_no_way_on_calls_nothing(whole, tmp_path, in_doubt, error, message):
    folder, world = cut_at(whole, tmp_path / "cut", CallBegun), World()
    with pytest.raises(error, match=message):
        resume(folder, world, SECOND, in_doubt=in_doubt)
    assert world.log == []
    assert resume(folder, world, SECOND, in_doubt="retry").success


# ------------------------------------------------------------------ what the user must name


def test_tools_are_never_taken_from_the_trace(whole, tmp_path):
    folder = cut(whole, tmp_path / "cut", 8)
    sentence = r"never taken from a trace \(send, fail\); name them again, .* --tools FILE.py, --mcp COMMAND"
    with pytest.raises(UsageError, match=sentence):
        codeplan.resume(folder, model=Replies())
    with pytest.raises(UsageError, match="a verifier, which is never taken from a trace"):
        codeplan.resume(folder, model=Replies(), tools=World().tools())


@pytest.mark.parametrize(
    ("tools", "differences"),
    [
        ([0], "missing: fail"),
        ([0, 1, print], "new: print"),
        ([1, 0], "they stand in another order"),
        ([0, "fail"], "with another signature or description: fail"),
        ([print], "missing: send, fail; new: print"),
    ],
)
def test_other_tools_are_refused_before_anything_is_called(whole, tmp_path, tools, differences):
    def fail(key: int) -> None:
        raise AssertionError

    world = World()
    own = [*world.tools(), fail]
    given = [own[t] if isinstance(t, int) else fail if t == "fail" else t for t in tools]
    folder = cut(whole, tmp_path / "cut", 8)
    with pytest.raises(UsageError, match=r"the tools differ from those of the recorded episode \(" + differences):
        resume(folder, world, SECOND, tools=given, ask=())
    env = ToolEnvironment("send them", Toolset(python_tools(*given)))
    with pytest.raises(UsageError, match=differences):
        codeplan.resume(folder, env=env, model=Replies(SECOND))
    assert world.log == []


def test_an_environment_of_tools_that_is_given_goes_on_as_well(whole, tmp_path):
    folder, world = cut_at(whole, tmp_path / "cut", CallAnswered, 1), World(CALLS[:2])
    env = ToolEnvironment("send them", Toolset(python_tools(*world.tools())))
    with pytest.raises(UsageError, match="give an environment or tools, not both"):
        codeplan.resume(folder, env=env, model=Replies(SECOND), tools=world.tools())
    instructed = ToolEnvironment("send them", env.toolset, instructions="Be brief.")
    with pytest.raises(UsageError, match="^the instructions differ from those of the recorded episode"):
        codeplan.resume(folder, env=instructed, model=Replies(SECOND))
    codeplan.resume(folder, env=env, model=Replies(SECOND))
    assert world.log == CALLS


def test_another_environment_takes_no_tools(tmp_path):
    source = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        assert agent.open(1)"
    with pytest.raises(codeplan.InfrastructureError):
        codeplan.run(Boxes(), "ball/2", model=Replies(source), out=tmp_path / "run")
    with pytest.raises(UsageError, match="the environment 'boxes' of the episode takes neither tools nor"):
        codeplan.resume(tmp_path / "run", env=Boxes(), model=Replies(), tools=World().tools())
    with pytest.raises(UsageError, match="^returns is for tools, and the episode's environment 'boxes' has none"):
        codeplan.resume(tmp_path / "run", env=Boxes(), model=Replies(), returns=int)
    with pytest.raises(UsageError, match="takes neither tools nor a verifier, nor patterns on tools; leave them out"):
        codeplan.resume(tmp_path / "run", env=Boxes(), model=Replies(), verify=lambda value: True)


# ------------------------------------------------------------------ foreign traces


def edited(folder, kind, change, number=0):
    """Change an event of a trace as a stranger can."""
    path = folder / "trace.jsonl"
    events = [json.loads(line) for line in path.read_text().splitlines()]
    change([e for e in events if e["event"] == kind][number])
    path.write_text("".join(json.dumps(e) + "\n" for e in events))


def to_eve(event):
    event["call"]["arguments"]["to"] = "eve"


@pytest.mark.parametrize("last", [CallAnswered, CallBegun])
def test_a_call_with_other_arguments_diverges_and_is_not_made(whole, tmp_path, last):
    folder, world = cut_at(whole, tmp_path / "cut", last, 1), World()
    edited(folder, "call_begun", to_eve, 1)
    with pytest.raises(Diverged, match="eve"):
        resume(folder, world, SECOND, in_doubt="retry")
    assert world.log == []


def test_a_trace_that_begins_a_call_and_goes_on_without_its_answer_diverges(whole, tmp_path):
    folder, world = cut_at(whole, tmp_path / "cut", CallAnswered, 1), World()
    path = folder / "trace.jsonl"
    events = [json.loads(line) for line in path.read_text().splitlines()]
    at = next(i for i, e in enumerate(events) if e["event"] == "call_answered")
    kept = [*events[:at], *events[at + 1 :]]
    path.write_text("".join(json.dumps(e | {"seq": i}) + "\n" for i, e in enumerate(kept)))
    with pytest.raises(Diverged, match="bob"):
        resume(folder, world, SECOND, in_doubt="retry")
    assert world.log == []


def test_a_recorded_success_counts_only_if_the_users_verifier_confirms_it(whole, tmp_path):
    events = Trace.read(whole / "trace.jsonl")
    folder, asked = cut(whole, tmp_path / "cut", len(events) - 1), []
    assert isinstance(events[-2], ValueJudged) and events[-2].verdict.success

    def refuse(value):
        asked.append(value)
        return "no letter came"

    before = (folder / "trace.jsonl").read_bytes()
    with pytest.raises(Diverged, match="the result was verified, but now it is not: .*no letter came"):
        resume(folder, World(CALLS), verify=refuse)
    assert asked == [3] and (folder / "trace.jsonl").read_bytes() == before
    assert codeplan.resume(folder, model=Replies(), **World(CALLS).options()).success


def test_names_of_tools_from_elsewhere_are_shown_within_bounds(whole, tmp_path):
    folder = cut(whole, tmp_path / "cut", 5)
    edited(folder, "episode_started", lambda e: e["tools"][0]["method"].update(name="a" * 100_000))
    edited(folder, "episode_started", lambda e: e["tools"][1]["method"].update(name="\x1b[2J b"))
    for options in ({}, World().options()):
        with pytest.raises(UsageError) as refused:
            codeplan.resume(folder, model=Replies(), **options)
        assert len(str(refused.value)) < 500 and "\x1b" not in str(refused.value)


def test_a_claimed_approval_allows_nothing_that_is_not_answered(whole, tmp_path):
    folder, world = cut_at(whole, tmp_path / "cut", CallDecided), World(CALLS[:2])
    world.approves = False
    resume(folder, world, *[FIRST] * 6)
    assert "fail x" not in world.log


def test_an_episode_that_ended_needs_no_tools(whole):
    seen = []
    result = codeplan.resume(whole, on_event=seen.append)
    assert result.success and result.value == 3
    assert [type(e) for e in seen] == [EpisodeEnded]


def test_a_verifier_must_confirm_the_success_of_an_episode_that_ended(whole):
    before, seen, asked, world = (whole / "trace.jsonl").read_bytes(), [], [], World(CALLS)

    def verify(value):
        asked.append(value)
        return len(asked) == 1 or "no letter came"

    options = world.options() | {"verify": verify}
    assert codeplan.resume(whole, on_event=seen.append, **options).value == 3
    assert (asked, [type(e) for e in seen]) == ([3], [EpisodeEnded])
    with pytest.raises(Diverged, match="the result was verified, but now it is not: .*no letter came"):
        codeplan.resume(whole, **options)
    with pytest.raises(UsageError, match="the episode has tools, which are never taken from a trace"):
        codeplan.resume(whole, verify=verify)
    assert world.log == CALLS and (whole / "trace.jsonl").read_bytes() == before


def test_a_success_that_a_trace_only_claims_is_not_confirmed(whole):
    edited(whole, "value_judged", lambda e: e.update(verdict={"text": "The result was not accepted"}))
    with pytest.raises(Diverged):
        codeplan.resume(whole, **World(CALLS).options())


# ------------------------------------------------------------------ methods


TURNS = ['send {"to": "ann", "number": 1}', 'send {"to": "bob", "number": 2}', 'finish {"value": 3}']


@pytest.mark.parametrize("method", ["react", "reflexion"])
def test_an_episode_of_single_calls_goes_on_as_well(tmp_path, method):
    options = {"method": method, "model": Replies(*TURNS)}
    assert codeplan.do("send them", out=tmp_path / "run", **World().options(), **options).success
    for number in (0, 1):
        folder, world = cut_at(tmp_path / "run", tmp_path / f"begun-{number}", CallBegun, number), World(CALLS[:number])
        with pytest.raises(CallInDoubt, match=["ann", "bob"][number]):
            resume(folder, world, *TURNS[number + 1 :])
        assert resume(folder, world, *TURNS[number + 1 :], in_doubt="retry").success
        folder, world = cut_at(tmp_path / "run", tmp_path / f"done-{number}", CallAnswered, number), World()
        assert resume(folder, world, *TURNS[number + 1 :]).success
        assert world.log == CALLS[number + 1 : 2]
