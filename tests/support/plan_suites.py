"""A plan and manifests for the tests of ``codeplan.testing``."""

from __future__ import annotations

from pathlib import Path

from codeplan.testing.cases import CaseRunner, CaseVerdict, PlanSuite

MANIFEST = """\
plan = "clean.py"
env = "household"

[[tasks]]
kind = "clean"
seed = 418
"""

TAKES = "assert agent.holding == found, f'Error in [Step 2]: I cannot take {found} from {place}. {agent.report()}'"
CLEANS = "assert 'You clean' in answer, f'Error in [Step 3]: {found} is not clean: {answer} {agent.report()}'"


def clean_plan() -> str:
    """Return a plan of four steps that cleans a lettuce."""
    text = (Path(__file__).parent / "clean_lettuce.txt").read_text()
    assert TAKES in text
    assert CLEANS in text
    return text


def write(folder: Path, manifest: str = MANIFEST, plan: str | None = None) -> Path:
    """Write a manifest and its plan to a folder; return the manifest's path."""
    (folder / "clean.py").write_text(clean_plan() if plan is None else plan)
    path = folder / "clean.plan.toml"
    path.write_text(manifest)
    return path


def verdicts(path: Path) -> dict[str, CaseVerdict]:
    """Run every case of a manifest; return the verdicts by name."""
    stage = CaseRunner(PlanSuite(path))
    return {case.name: stage.run(case) for case in stage.suite.cases}


def messages(verdict: CaseVerdict) -> list[str]:
    return [complaint.message for complaint in verdict.complaints]
