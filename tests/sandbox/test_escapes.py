"""No hostile plan gets anything: neither from the whole sandbox, nor from the cage alone with all of Python in its hands."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from codeplan.audit import Escape, audit, judge, read_corpus, read_escape
from codeplan.audit_watch import Watch
from codeplan.errors import UsageError

FOLDER = Path(__file__).parents[1] / "escapes"
CORPUS = sorted(FOLDER.glob("*.py"))


@pytest.fixture(scope="session")
def guarded():
    with Watch(unrestricted=False) as watch:
        yield watch


@pytest.fixture(scope="session")
def unrestricted():
    with Watch(unrestricted=True) as watch:
        yield watch


# ------------------------------------------------------------------ the corpus


def test_the_corpus_is_large_and_each_plan_stands_in_it_once():
    corpus = read_corpus(FOLDER)
    assert len(corpus) >= 160
    assert [e.id for e in corpus] == [path.stem for path in CORPUS]
    assert len({e.source.partition("def solution")[2] for e in corpus if "def solution" in e.source}) >= 160
    assert min(Counter(e.for_cage for e in corpus).values()) >= 50


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_nothing_gets_through_the_sandbox(path, guarded):
    verdict = judge(read_escape(path), guarded, unrestricted=False)

    assert not verdict.through, verdict


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_nothing_gets_through_the_cage_alone(path, unrestricted):
    verdict = judge(read_escape(path), unrestricted, unrestricted=True)

    assert not verdict.through, verdict


# ------------------------------------------------------------------ the audit sees what it is for


def harmless(body: str, *, for_cage: bool = False) -> Escape:
    """A plan that has nothing to get around: what it does is allowed, and counts as getting through all the same."""
    return Escape("x", "x", "x", "def solution(agent, start_from=1):\n    " + body, for_cage)


def test_a_plan_that_only_says_the_word_is_through(guarded):
    verdict = judge(harmless("print('CAN' + 'ARY')"), guarded, unrestricted=False)

    assert verdict.problem.startswith("CANARY reached the output")


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("x = 'CANARY'", "checkpoint"),
        ("ask('CANARY')", "asks"),
        ("agent.goto('CANARY')", "actions"),
        ("raise ValueError('CANARY')", "error message"),
    ],
)
def test_wherever_it_says_it(body, place, guarded):
    assert f"CANARY reached the {place}" in judge(harmless(body), guarded, unrestricted=False).problem


def test_a_plan_for_the_cage_that_the_check_lets_pass_is_through(guarded):
    source = "if start_from <= 1:\n        assert agent.goto('x'), 'Error in [Step 1]'"

    assert "let it pass" in judge(harmless(source, for_cage=True), guarded, unrestricted=False).problem


def test_without_the_language_layer_a_plan_has_all_of_python(unrestricted):
    """Else the other half of these tests would prove nothing."""
    body = "import sys, ctypes; print('CAN' 'ARY', sys.modules['os'].getpid(), ().__class__.__base__.__subclasses__()[:1])"

    assert "CANARY reached the output" in judge(harmless(body, for_cage=True), unrestricted, unrestricted=True).problem


def test_the_verdicts_come_in_the_order_of_the_plans():
    plans = [harmless(f"print('{word}')") for word in ("fine", "CANARY", "fine", "CANARY")]
    heard = []

    verdicts = audit(plans, hosts=2, heard=heard.append)

    assert [v.through for v in verdicts] == [False, True, False, True]
    assert sorted(heard, key=id) == sorted(verdicts, key=id)


# ------------------------------------------------------------------ reading a corpus


def test_a_folder_without_plans_is_refused_in_one_sentence(tmp_path):
    with pytest.raises(UsageError, match="no hostile plans"):
        read_corpus(tmp_path)


def test_a_plan_without_a_header_is_refused_by_name(tmp_path):
    (tmp_path / "bare.py").write_text("# id: bare\n# tries: nothing\n")

    with pytest.raises(UsageError, match=r"bare\.py has no line '# kind"):
        read_corpus(tmp_path)


def test_a_plan_that_is_no_text_is_refused_by_name(tmp_path):
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe")

    with pytest.raises(UsageError, match=r"binary\.py cannot be read"):
        read_corpus(tmp_path)


def test_line_ends_are_kept_as_they_are(tmp_path):
    (tmp_path / "cr.py").write_bytes(b"# id: cr\n# kind: parse\n# tries: x\ndef solution(agent):\n    x = 1 # y\r    z\r\n")

    assert read_escape(tmp_path / "cr.py").source.endswith("# y\r    z\r\n")
