"""Runs whose tools act: what a client's changed plan does not do again, and what it is told of calls that failed."""

import time

import pytest
from support.plan_server import plan_runner
from support.sample_plans import LETTERS, REFINED_LETTERS

from codeplan.mcp_server.plan_runner import RunControl
from codeplan.recording import event_log

ALONE = RunControl()
HEAD = "def solution(agent, start_from=1):\n"


class Post:
    """Letters, with a log of those that were sent. The first one to Bob fails."""

    def __init__(self):
        self._sent, self._fails = [], True

    def people(self) -> list[str]:
        """All people."""
        return ["ann", "bob", "cid"]

    def send(self, to: str) -> str:
        """Send a letter."""
        if to == "bob" and self._fails:
            self._fails = False
            raise ConnectionError("try again")
        self._sent.append(to)
        return "ok"

    def slow(self, to: str) -> str:
        """Send a letter by a slow road."""
        self._sent.append(to)
        time.sleep(3)
        return "ok"

    def stamps(self) -> dict:
        """The stamps."""
        return {"error": "there are none"}


@pytest.fixture
def post():
    return Post()


def step(number, body):
    return f"    if start_from <= {number}:\n" + "".join(f"        {line}\n" for line in body.splitlines())


def test_a_refined_step_reads_what_was_sent_and_sends_the_rest(tmp_path, post):
    with plan_runner(tmp_path, post) as runner:
        failed = runner.run(HEAD + LETTERS, "send letters", ALONE)
        assert (failed.failure.error, failed.failure.line, post._sent) == ("ConnectionError", 6, ["ann"])
        assert "sent = ['ann']" in failed.variables
        done = runner.resume(failed.run, REFINED_LETTERS, ALONE)
    assert (done.ended, done.value, post._sent) == ("finished", ["ann", "bob", "cid"], ["ann", "bob", "cid"])


def test_a_once_tool_sends_no_letter_twice_where_steps_get_other_numbers(tmp_path, post):
    look, send, rest = "seen = agent.people()", "agent.send('ann')\nagent.send('cid')", "agent.send('bob')"
    odd = f"assert not seen, 'Error in [Step 3]: odd'\n{rest}"
    with plan_runner(tmp_path, post, sources={"once": ("send",)}) as runner:
        runs = [runner.run(HEAD + step(1, send) + step(2, rest), "send letters", ALONE)]
        for changed in (
            step(1, look) + step(2, send) + step(3, odd),
            step(2, f"again = 1\n{send}"),
            step(3, rest) + "    return 'sent'\n",
        ):
            assert runs[-1].ended == "failed"
            runs.append(runner.resume(runs[-1].run, changed, ALONE))
    assert [run.started_from for run in runs] == [1, 1, 2, 3]
    assert runs[-1].value == "sent" and post._sent == ["ann", "cid", "bob"]


def test_a_pattern_that_fits_no_tool_starts_no_server(tmp_path, post):
    for kind in ("allow", "ask", "deny", "once"):
        with pytest.raises(Exception, match="remnid"), plan_runner(tmp_path, post, sources={kind: ("remnid",)}):
            pass


def test_a_denied_tool_is_not_there(tmp_path, post):
    with plan_runner(tmp_path, post, sources={"deny": ("send",)}) as runner:
        refused = runner.run(HEAD + LETTERS, "send letters", ALONE)
    assert refused.ended == "refused" and "send" in refused.faults[0].message and post._sent == []


def test_a_call_past_its_limit_is_in_doubt_by_name_and_is_not_made_again(tmp_path, post):
    started = time.monotonic()
    sources = {"once": ("slow",), "tool_timeout": 0.3}
    with plan_runner(tmp_path, post, sources=sources) as runner:
        failed = runner.run(HEAD + step(1, "agent.slow('ann')\nassert True"), "send a letter", ALONE)
        said = "slow did not answer within its limit of 0.3 s; whether it was done is unknown"
        assert (failed.failure.error, failed.failure.message) == ("TimeoutError", said)
        caught = "try:\n    agent.slow('ann')\nexcept TimeoutError as e:\n    said = str(e)\nassert said"
        done = runner.resume(failed.run, step(1, caught) + "    return said\n", ALONE)
    assert done.value == said and post._sent == ["ann"]
    assert time.monotonic() - started < 3


def test_a_failure_has_its_step_and_line_and_one_that_was_caught_is_none(tmp_path, post, capfd):
    caught = "try:\n    agent.send('bob')\nexcept ConnectionError as e:\n    said = str(e)"
    with plan_runner(tmp_path, post, sources={"error_if": "error"}) as runner:
        done = runner.run(HEAD + step(1, caught) + "    return said\n", "send a letter", ALONE)
        assert (done.value, done.failure) == ("try again", None)
        failed = runner.run(HEAD + step(1, "agent.stamps()"), "look", ALONE)
    assert (failed.failure.error, failed.failure.message) == ("RuntimeError", "there are none")
    assert (failed.failure.step, failed.failure.line, failed.failure.code) == (1, 3, "agent.stamps()")
    assert "Traceback" not in "".join(capfd.readouterr())


class Letters:
    """Long receipts for letters."""

    def __init__(self):
        self._sent = []

    def send(self, to: str) -> str:
        self._sent.append(to)
        return "x" * 300_000


def test_a_full_trace_ends_a_run_before_the_call_that_it_could_not_hold(tmp_path, monkeypatch):
    letters = Letters()
    body = "for name in 'abcd':\n    try:\n        agent.send(name)\n    except Exception:\n        pass"
    steps = "".join(f"        {line}\n" for line in body.splitlines())
    plan = f"def solution(agent, start_from=1):\n    if start_from <= 1:\n{steps}        assert True\n"
    with plan_runner(tmp_path / "runs", letters) as runner:
        with monkeypatch.context() as patch:
            patch.setattr(event_log, "_MAX_FILLED_BYTES", event_log._ROOM_FOR_CALL + 500_000)
            full = runner.run(plan, "", ALONE)
        assert (full.ended, full.calls, letters._sent) == ("budget", 2, ["a", "b"])
        rest = runner.resume(full.run, plan.replace("'abcd'", "'cd'"), ALONE)
    assert (rest.ended, rest.resumes, letters._sent) == ("finished", full.run, ["a", "b", "c", "d"])
