"""Ways to solve a task, all on the same Episode; the entry-point group is ``codeplan.methods``.

Methods nest: one that delegates tasks has a setting ``executor``, which is a Method, a name, or a table of a name and
its settings.

    Adapt(executor=Reflexion(executor=ReAct()))
    make("adapt", executor={"name": "reflexion", "executor": "react"})
"""

from __future__ import annotations

from codeplan.methods.registry import ExecutorSpec, make, names, resolve_executor

__all__ = ["ExecutorSpec", "make", "names", "resolve_executor"]
