"""No hostile plan gets anything, neither from the whole sandbox nor, with all of Python, from the cage alone."""

from __future__ import annotations

import json
import socket
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from codeplan.audit.auditor import (
    Canaries,
    HostilePlan,
    HostMonitor,
    audit_on,
    audit_plan,
    audit_plans,
    expand,
    read_corpus,
    read_hostile_plan,
)
from codeplan.audit.target import AttackSession
from codeplan.cli import machine as cli
from codeplan.errors import UsageError

FOLDER = Path(__file__).parents[1] / "escapes"
CORPUS = sorted(FOLDER.glob("*.py"))


FAMILIES = sorted({path.stem[0] for path in CORPUS})
"""Plans of one family begin with the same letter. They are tried side by side: most of them wait for a limit."""

HOSTS = 4


def family_plans(family: str) -> list[HostilePlan]:
    return [read_hostile_plan(path) for path in CORPUS if path.stem.startswith(family)]


@pytest.fixture(scope="session")
def guarded_hosts():
    with ExitStack() as stack:
        yield [stack.enter_context(HostMonitor(unrestricted=False)) for _ in range(HOSTS)]


@pytest.fixture(scope="session")
def unrestricted_hosts():
    with ExitStack() as stack:
        yield [stack.enter_context(HostMonitor(unrestricted=True)) for _ in range(HOSTS)]


@pytest.fixture
def guarded(guarded_hosts):
    return guarded_hosts[0]


@pytest.fixture
def unrestricted(unrestricted_hosts):
    return unrestricted_hosts[0]


# ------------------------------------------------------------------ the corpus


def test_the_corpus_is_large_and_has_no_plan_twice():
    corpus = read_corpus(FOLDER)
    assert len(corpus) >= 160
    assert [e.id for e in corpus] == [path.stem for path in CORPUS]
    assert len({e.source.partition("def solution")[2] for e in corpus if "def solution" in e.source}) >= 160
    assert min(Counter(e.for_cage for e in corpus).values()) >= 50


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_gets_through_the_sandbox(family, guarded_hosts):
    verdicts = audit_on(guarded_hosts, family_plans(family), unrestricted=False)

    assert [verdict for verdict in verdicts if verdict.got_through] == []


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_gets_through_the_cage_alone(family, unrestricted_hosts):
    verdicts = audit_on(unrestricted_hosts, family_plans(family), unrestricted=True)

    assert [verdict for verdict in verdicts if verdict.got_through] == []


# ------------------------------------------------------------------ the audit sees what it is for


def harmless(body: str, *, for_cage: bool = False) -> HostilePlan:
    """A plan that does only what is allowed, which the audit counts as getting through."""
    return HostilePlan("x", "x", "x", "def solution(agent, start_from=1):\n    " + body, for_cage)


def test_an_exception_ends_the_audit_before_all_plans_are_run(guarded_hosts):
    ended = []

    def interrupt(verdict):
        ended.append(verdict)
        if len(ended) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audit_on(guarded_hosts[:2], [harmless("print(1)")] * 60, unrestricted=False, on_event=interrupt)
    assert len(ended) < 60


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("print('CAN' + 'ARY')", "output"),
        ("x = 'CANARY'", "checkpoint"),
        ("ask('CANARY')", "asks"),
        ("agent.goto('CANARY')", "actions"),
        ("raise ValueError('CANARY')", "error message"),
    ],
)
def test_the_word_is_found_wherever_it_comes_out(body, place, guarded):
    assert f"CANARY reached the {place}" in audit_plan(harmless(body), guarded, unrestricted=False).problem


def test_a_plan_for_the_cage_that_the_check_accepts_got_through(guarded):
    source = "if start_from <= 1:\n        assert agent.goto('x'), 'Error in [Step 1]'"

    assert "the check accepted" in audit_plan(harmless(source, for_cage=True), guarded, unrestricted=False).problem


def test_without_the_language_layer_a_plan_has_all_of_python(unrestricted):
    """Otherwise the tests of the cage alone would prove nothing."""
    body = (
        "import sys, ctypes; print('CAN' 'ARY', sys.modules['os'].getpid(), ().__class__.__base__.__subclasses__()[:1])"
    )

    assert (
        "CANARY reached the output"
        in audit_plan(harmless(body, for_cage=True), unrestricted, unrestricted=True).problem
    )


@pytest.fixture
def canaries():
    canaries = Canaries()
    yield canaries
    canaries.close()


def call(port: int) -> None:
    socket.create_connection(("127.0.0.1", port), 1).close()


def send(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.sendto(b"x", ("127.0.0.1", port))


@pytest.mark.parametrize(
    ("touch", "said"),
    [
        (lambda t: t.marker.mkdir(), "it left a mark in the file system"),
        (lambda t: t.marker.symlink_to("nowhere"), "it left a mark in the file system"),
        (lambda t: t.secret.write_text(""), "it changed a file of the host's"),
        (lambda t: t.secret.unlink(), "it changed a file of the host's"),
        (lambda t: call(t.port), "it called a port of the host's"),
        (lambda t: send(t.port), "it called a port of the host's"),
    ],
)
def test_damage_to_a_canary_is_reported_until_the_reset(touch, said, canaries):
    assert canaries.find_damage() == ""
    touch(canaries)
    assert canaries.find_damage() == said

    canaries.reset()

    assert canaries.find_damage() == ""


def test_a_change_to_the_agent_without_its_methods_is_found():
    session = AttackSession("secret")
    session.agent.take("cup 1", "shelf 1")
    assert not session.agent_was_changed()

    session.agent.receptacles.append("FORGED")

    assert session.agent_was_changed()


def test_an_argument_that_is_not_plain_data_is_found():
    session = AttackSession("secret")
    session.agent.take(["plain", {"k": (1, None)}], "shelf 1")
    assert session.non_plain_argument() == ""

    session.agent.goto([{1, 2}])

    assert session.non_plain_argument() == "set"


def test_the_verdicts_come_in_the_order_of_the_plans():
    plans = [harmless(f"print('{word}')") for word in ("fine", "CANARY", "fine", "CANARY")]
    reported = []

    verdicts = audit_plans(plans, hosts=2, on_event=reported.append)

    assert [v.got_through for v in verdicts] == [False, True, False, True]
    assert sorted(reported, key=id) == sorted(verdicts, key=id)


# ------------------------------------------------------------------ the command


def audit_command(*arguments: str):
    app = typer.Typer()
    cli.add_to(app)
    return CliRunner().invoke(app, ["sandbox", "audit", *arguments])


def write(folder: Path, name: str, body: str) -> None:
    header = "# kind: word\n# tries: saying the word\n"
    (folder / f"{name}.py").write_text(f"{header}def solution(agent, start_from=1):\n    {body}\n")


def test_the_command_prints_a_table_and_a_line_for_each_plan_that_got_through(tmp_path):
    write(tmp_path, "quiet", "print('fine')")
    write(tmp_path, "loud", "print('CANARY')")

    result = audit_command("--corpus", str(tmp_path))

    assert result.exit_code == 1
    assert "THROUGH  loud (word), finished: CANARY reached the output" in result.stdout
    assert "1 of 2 hostile plans got through (language and cage" in result.stdout
    assert [line.split() for line in result.stdout.splitlines() if line.startswith("word")] == [
        ["word", "2", "0", "0", "0", "2", "1"]
    ]


def test_the_command_exits_0_if_nothing_got_through(tmp_path):
    write(tmp_path, "quiet", "print('CANARY')")

    result = audit_command("--corpus", str(tmp_path), "--unrestricted", "--json")

    found = json.loads(result.stdout)
    assert result.exit_code == 0
    assert (found["plans"], found["through"], found["unrestricted"]) == (1, [], True)
    assert found["verdicts"][0]["ending"] == "finished"


# ------------------------------------------------------------------ reading a corpus


def test_a_folder_without_plans_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no hostile plans"):
        read_corpus(tmp_path)


def test_a_block_that_follows_a_rule_is_written_out():
    text = "a\n# repeat for k from 1 to 3, deeper each time\nx<k> = <7*k+1 mod 9>\n# end\nb\n"

    assert expand(text) == "a\nx1 = 8\n x2 = 6\n  x3 = 4\nb\n"


def test_a_plan_without_a_header_is_refused_by_name(tmp_path):
    (tmp_path / "bare.py").write_text("# tries: nothing\n")

    with pytest.raises(UsageError, match=r"bare\.py has no line '# kind"):
        read_corpus(tmp_path)


def test_a_plan_that_is_not_text_is_refused_by_name(tmp_path):
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe")

    with pytest.raises(UsageError, match=r"binary\.py cannot be read"):
        read_corpus(tmp_path)


def test_line_ends_are_kept_as_they_are(tmp_path):
    (tmp_path / "cr.py").write_bytes(b"# kind: parse\n# tries: x\ndef solution(agent):\n    x = 1 # y\r    z\r\n")

    assert read_hostile_plan(tmp_path / "cr.py").source.endswith("# y\r    z\r\n")
