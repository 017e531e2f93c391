"""The audit: hostile plans are run on this very machine, and judged by what came of them.

Each plan of a corpus is a file with a header that says what it tries. It is run by a host process of the audit's own
that has something to hide (a file, an environment variable, an agent with private parts) and is watched from outside.
A plan gets through when it reached any of that, harmed the host, or left something behind; afterwards an honest plan
must run as ever.
"""

from __future__ import annotations

from codeplan.audit.auditor import AttackVerdict, HostilePlan, audit_plan, audit_plans, read_corpus, read_hostile_plan

__all__ = ["AttackVerdict", "HostilePlan", "audit_plan", "audit_plans", "read_corpus", "read_hostile_plan"]
