"""The user's verifier: it decides whether a plan's value, and the effects of its calls, reach the goal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from codeplan.errors import VerifierBroken
from codeplan.tools.approvals import require_callable
from codeplan.tools.failures import failure_sentence, require_failure
from codeplan.tools.json_data import type_name
from codeplan.untrusted.surrogates import escape_surrogates
from codeplan.untrusted.terminal import echo
from codeplan.untrusted.tracebacks import traceback_text

Verdict: TypeAlias = bool | str
"""True: the goal is reached. A text says what is missing, and so does False without words."""

MAX_VERDICT_CHARS = 2_000
"""Maximum length of a verifier's text, in characters."""


class Verifier:
    """A function ``verify(value, tools)``, or ``verify(value)``, sync or async.

    ``value`` is the value that the plan returned. ``tools`` has the tools as methods, to inspect the world; their
    calls count towards no limit. An asynchronous verifier awaits the results of asynchronous tools. Raises:
    UsageError: the function takes neither two arguments nor one.
    """

    def __init__(self, verify: Callable[..., Verdict | Awaitable[Verdict]]) -> None:
        self._verify = verify
        self._count = require_callable(verify, "verify", "verify(value, tools)", (2, 1))

    def judge(self, value: object, tools: object, finish: Callable[[object], object]) -> Verdict:
        """The verdict; ``finish`` waits for an asynchronous one.

        Raises: VerifierBroken: the function fails, or returns neither a bool nor a text.
        """
        try:
            verdict: Any = finish(self._verify(value, tools) if self._count == 2 else self._verify(value))
        except BaseException as error:
            require_failure(error)
            echo(f"The verifier failed:\n{traceback_text(error)}", err=True)
            raise VerifierBroken(f"the verifier failed: {failure_sentence(error)}") from error
        if not isinstance(verdict, bool | str):
            raise VerifierBroken(
                f"the verifier returned a value of the type {type_name(verdict)}; return True, False or a text "
                "that says what is missing"
            )
        return escape_surrogates(verdict[:MAX_VERDICT_CHARS]) if isinstance(verdict, str) else verdict
