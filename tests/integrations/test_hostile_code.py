"""No hostile plan gets anything through the adapters for other frameworks."""

from __future__ import annotations

import importlib.util
from contextlib import ExitStack
from pathlib import Path

import pytest

from codeplan.audit.auditor import HostilePlan, HostMonitor, audit_on, read_corpus

FOLDER = Path(__file__).parents[1] / "escapes"
HOSTS = 4
PACKAGES = {"smolagents": "smolagents", "pydantic_ai": "pydantic_ai", "langchain": "langchain_core", "openai_agents": "agents"}  # fmt: skip


@pytest.fixture(params=PACKAGES)
def hosts(request, monkeypatch):
    if importlib.util.find_spec(PACKAGES[request.param]) is None:
        pytest.skip(f"the extra {request.param} is not installed")
    monkeypatch.setenv("CODEPLAN_TEST_ADAPTER", request.param)
    with ExitStack() as stack:
        yield [
            stack.enter_context(HostMonitor(unrestricted=False, target="support.adapter_target")) for _ in range(HOSTS)
        ]


@pytest.mark.long
def test_nothing_gets_through_an_adapter(hosts):
    corpus = read_corpus(FOLDER)
    verdicts = audit_on(hosts, corpus, unrestricted=False)

    assert len(verdicts) >= 537
    assert [verdict for verdict in verdicts if verdict.got_through] == []


def test_the_audit_of_an_adapter_sees_what_it_is_for(hosts):
    said = HostilePlan("x", "x", "x", "def solution(agent, start_from=1):\n    print('CAN' + 'ARY')")
    many = HostilePlan("x", "x", "x", "def solution(agent, start_from=1):\n    agent.goto('CANARY')")
    verdicts = audit_on(hosts, [said, many], unrestricted=False)
    assert ["reached the answer" in verdicts[0].problem, "reached the" in verdicts[1].problem] == [True, True]
