"""Runs hostile plans on this machine and reports which of them got through the sandbox.

Each plan runs in a host process that has secrets (a file, an environment variable, private parts of its agent). The
audit monitors that process from outside. A plan gets through if it reaches a secret, harms the host, leaves something
behind, or keeps an honest plan from running afterwards.
"""

from __future__ import annotations

from codeplan.audit.auditor import AttackVerdict, HostilePlan, audit_plan, audit_plans, read_corpus, read_hostile_plan

__all__ = ["AttackVerdict", "HostilePlan", "audit_plan", "audit_plans", "read_corpus", "read_hostile_plan"]
