"""Unit tests of plans, independent of pytest.

A manifest (``manifest``) defines test cases (``case``). Each runs its plan in the sandbox (``plan_run``), whole or
interrupted and resumed, with or without an injected fault (``faults``), and compares the run with the ``expectations``.
``coverage`` and ``mutation`` measure how good the cases are.
"""
