"""No hostile plan gets anything through the adapters for other frameworks."""

from __future__ import annotations

import importlib.util
import os
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path

import pytest

from codeplan.audit.auditor import HostilePlan, HostMonitor, audit_on, read_corpus

FOLDER = Path(__file__).parents[1] / "escapes"
HOSTS = 2
PACKAGES = {"smolagents": "smolagents", "pydantic_ai": "pydantic_ai", "langchain": "langchain_core", "openai_agents": "agents"}  # fmt: skip


SHARE = int(os.environ.get("CODEPLAN_HOSTILE_SHARE", "12"))
"""Of so many hostile plans of a kind, each adapter gets one in turn. ``make crosscheck`` gives each adapter all."""


@pytest.fixture(scope="module", params=PACKAGES)
def adapter(request):
    if importlib.util.find_spec(PACKAGES[request.param]) is None:
        pytest.skip(f"the extra {request.param} is not installed")
    return request.param


@pytest.fixture(scope="module")
def hosts(adapter):
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setenv("CODEPLAN_TEST_ADAPTER", adapter)
        yield [
            stack.enter_context(HostMonitor(unrestricted=False, target="support.adapter_target")) for _ in range(HOSTS)
        ]


def share_of(adapter):
    """The hostile plans for this adapter, of each kind at least one."""
    kinds = defaultdict(list)
    for plan in read_corpus(FOLDER):
        kinds[plan.kind].append(plan)
    turn = list(PACKAGES).index(adapter)
    return [plan for plans in kinds.values() for plan in plans[turn % SHARE :: SHARE] or plans[:1]]


def test_each_adapter_gets_hostile_plans_of_each_kind():
    kinds = {plan.kind for plan in read_corpus(FOLDER)}
    assert [{plan.kind for plan in share_of(adapter)} for adapter in PACKAGES] == [kinds] * len(PACKAGES)


@pytest.mark.long
def test_nothing_gets_through_an_adapter(adapter, hosts):
    verdicts = audit_on(hosts, share_of(adapter), unrestricted=False)

    assert [verdict for verdict in verdicts if verdict.got_through] == []


def test_the_audit_of_an_adapter_sees_what_it_is_for(hosts):
    said = HostilePlan("x", "x", "x", "def solution(agent, start_from=1):\n    print('CAN' + 'ARY')")
    many = HostilePlan("x", "x", "x", "def solution(agent, start_from=1):\n    agent.goto('CANARY')")
    verdicts = audit_on(hosts, [said, many], unrestricted=False)
    assert ["reached the answer" in verdicts[0].problem, "reached the" in verdicts[1].problem] == [True, True]
