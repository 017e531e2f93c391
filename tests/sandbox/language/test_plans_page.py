"""The page about plans: each rule that it shows does what it says."""

import re
from pathlib import Path

import pytest

from codeplan.agent_interface import agent_api
from codeplan.sandbox import Sandbox
from codeplan.sandbox.analysis.fixes import mend_plan
from codeplan.sandbox.language.extraction import MergedReply
from codeplan.types import AgentApi, AgentAttribute, AgentMethod, AgentParameter, Finished, Plan, Rejected

PAGE = (Path(__file__).parents[3] / "docs" / "plans.md").read_text()
API = AgentApi(
    (
        AgentMethod("goto", "(place)", "", (AgentParameter("place"),)),
        AgentMethod("take", "(thing, place)", "", (AgentParameter("thing"), AgentParameter("place"))),
        AgentMethod("report", "()"),
    ),
    (AgentAttribute("holding"),),
    aliases=(("go", "goto"),),
)


def rules(heading: str) -> dict[str, list[str]]:
    """Return the rules of a chapter, each with its blocks of code."""
    chapter = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    text = next(part for part in chapter if part.startswith(heading))
    sections = re.split(r"^### ", text, flags=re.MULTILINE)[1:]
    return {s.split("\n", 1)[0]: re.findall(r"```\w+\n(.*?)```", s, re.DOTALL) for s in sections}


def test_the_example_at_the_top_passes_without_fix_or_warning() -> None:
    source = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]
    found = Sandbox().check(source, API)
    assert not isinstance(found, Rejected)
    assert (found.source, found.fixes, found.warnings) == (source, (), ())


def test_a_reply_of_steps_makes_the_plan_that_the_page_shows() -> None:
    chapter = PAGE[PAGE.index("## Changing some steps") :]
    before, reply, wanted = re.findall(r"```python\n(.*?)```", chapter, re.DOTALL)[:3]
    assert Sandbox().merge_reply(reply, before) == MergedReply(wanted, (2, 3))


@pytest.mark.parametrize("rule", rules("What is fixed"))
def test_a_fix_makes_what_the_page_shows(rule: str) -> None:
    source, wanted = rules("What is fixed")[rule]
    mended, fixes = mend_plan(source, API)
    assert mended == wanted
    assert rule in {f.rule for f in fixes}
    found = Sandbox().check(source, API)
    assert not isinstance(found, Rejected)
    assert found.source == wanted


@pytest.mark.parametrize("rule", rules("What is only warned of"))
def test_a_warning_lets_the_plan_run(rule: str) -> None:
    found = Sandbox().check(rules("What is only warned of")[rule][0], API)
    assert not isinstance(found, Rejected)
    assert [w.rule for w in found.warnings] == [rule]


@pytest.mark.parametrize("rule", [r for r, blocks in rules("What is refused").items() if blocks])
def test_an_error_refuses_the_plan_whatever_is_fixed(rule: str) -> None:
    found = Sandbox().check(rules("What is refused")[rule][0], API)
    assert isinstance(found, Rejected)
    assert rule in {d.rule for d in found.diagnostics}


def test_the_page_names_every_rule_of_the_check() -> None:
    language = Path(__file__).parents[3] / "sandbox" / "language"
    fixes = [language.parent / "analysis" / name for name in ("codemods.py", "fixes.py")]
    written = "".join(p.read_text() for p in [*language.glob("*.py"), *fixes])
    used = set(re.findall(r'(?:problems|warnings)\.add(?:_at)?\([^"()]*"([a-z-]+)"', written))
    used |= set(re.findall(r'_Problem\([^"]*"([a-z-]+)"', written)) | set(re.findall(r'rule = "([a-z-]+)"', written))
    used |= set(re.findall(r'_reject\(source, \w+, \w+, "([a-z-]+)"', written)) | {
        "language",
        "no-python",
        "assert-true",
    }
    shown = {r for c in ("What is fixed", "What is only warned of", "What is refused") for r in rules(c)}
    assert used == shown


class Mailbox:
    """The agent of the example with questions."""

    def __init__(self) -> None:
        self.paid: list[tuple[str, float]] = []

    def read(self, name: str) -> str:
        """Read a file."""
        return f"{name}: pay 133.00 to DE12"

    def pay(self, iban: str, amount: float) -> None:
        """Pay."""
        self.paid.append((iban, amount))


def test_the_example_of_questions_with_a_form_runs_as_it_is_shown() -> None:
    source = re.search(r"## Asking the model.*?```python\n(.*?)```", PAGE, re.DOTALL)[1]  # type: ignore[index]
    answers, asked, agent = ["bill", '{"iban": "DE12", "amount": 133, "due": null}'], list[str](), Mailbox()
    outcome = Sandbox().run(source, agent, lambda question: asked.append(question) or answers[len(asked) - 1])  # type: ignore[func-returns-value]
    assert isinstance(outcome, Finished), outcome
    assert agent.paid == [("DE12", 133.0)]
    assert all("bill.txt: pay 133.00" in question for question in asked)
    assert isinstance(Sandbox().check(source, agent_api(Mailbox)), Plan)
