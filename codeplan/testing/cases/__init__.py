"""Unit tests of plans: a plan, tasks, answers and expectations go in, verdicts come out. The pytest plugin shows them.

A manifest (``manifest``) makes test cases (``case``). Each runs its plan in the sandbox (``running``), whole or broken
off and resumed, in the world as it is or in one that misbehaves (``faults``), and holds what happened against what was
expected (``expectations``). ``coverage`` and ``mutation`` say what the cases together are worth.
"""
