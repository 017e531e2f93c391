"""``make run`` shows what codeplan is for."""

import re
from pathlib import Path

from support.trace_samples import outcomes_of

from codeplan.cli.app import main
from codeplan.recording.events import EpisodeEnded, ModelCalled, PlanDrafted, PlanStarted
from codeplan.recording.trace import Trace
from codeplan.types import Failed

MAKEFILE = Path(__file__).parent.parent / "Makefile"


def test_the_demonstration_asks_fails_refines_resumes_in_the_middle_and_wins(tmp_path, capsys):
    options = re.search(r"^DEMO \?= (.*)$", MAKEFILE.read_text(), re.MULTILINE)[1].split()
    assert main(["run", "household", *options, "--out", str(tmp_path / "run")]) == 0
    events = Trace.read(tmp_path / "run" / "trace.jsonl")
    assert any(isinstance(e, ModelCalled) and e.purpose == "ask" for e in events)
    assert any(e.error == "AssertionError" for e in outcomes_of(events, Failed))
    assert any(isinstance(e, PlanDrafted) and e.origin == "refine" for e in events)
    assert [e.start_from for e in events if isinstance(e, PlanStarted)][-1] > 1
    assert isinstance(events[-1], EpisodeEnded)
    assert events[-1].result.success
    shown = capsys.readouterr().out
    assert "stand-in" in shown
    assert str(tmp_path / "run" / "trace.jsonl") in shown.replace("\n", "")
