"""Asks a client's user about calls that need approval: in the middle of the call, or in its result.

Since version 2026-07-28 of the protocol, a server returns its questions as the result of a call, and the client sends
the call again with the answers. Before that version, the server sends a request of its own while the call is running.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final

from codeplan.errors import UsageError
from codeplan.mcp_server.answers import RunAnswer
from codeplan.mcp_server.live_runs import ApprovalNeeded, LiveRun
from codeplan.tools.call_text import call_text

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext
    from mcp_types import CallToolRequestParams, ElicitRequestFormParams, ElicitResult, InputRequiredResult

_KEY: Final = "approval"
_FORM: Final = {
    "type": "object",
    "properties": {"allow": {"type": "boolean", "title": "Make this call", "default": False}},
    "required": ["allow"],
}


class ApprovalDesk:
    """Puts the questions of runs to clients. A call that is not clearly allowed is refused."""

    def __init__(self) -> None:
        self._asked: dict[str, LiveRun[RunAnswer]] = {}

    def can_ask(self, context: ServerRequestContext[Any]) -> bool:
        """Whether the client can put a question to its user."""
        capabilities = context.session.client_capabilities
        found = capabilities.elicitation if capabilities else None
        if found is None or (found.form is None and found.url is not None):
            return False
        return self.asks_in_results(context) or context.session.can_send_request

    def asks_in_results(self, context: ServerRequestContext[Any]) -> bool:
        """Whether questions are results in the protocol's version."""
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS

        return context.protocol_version in MODERN_PROTOCOL_VERSIONS

    async def ask(self, context: ServerRequestContext[Any], call: ApprovalNeeded) -> bool:
        """Ask while the client waits for the run."""
        from mcp import MCPError

        form = _form(call)
        try:
            answer = await context.session.elicit_form(form.message, form.requested_schema, context.request_id)
        except (MCPError, ValueError):  # the client cannot ask after all, or its answer is meaningless
            return False
        return _allows(answer)

    def question(
        self, live: LiveRun[RunAnswer], call: ApprovalNeeded, params: CallToolRequestParams
    ) -> InputRequiredResult:
        """Ask in a result; the run waits for ``take_up``."""
        from mcp_types import ElicitRequest, InputRequiredResult

        ticket = secrets.token_hex(16)
        self._asked = {t: run for t, run in self._asked.items() if run.thread.is_alive()} | {ticket: live}
        return InputRequiredResult(input_requests={_KEY: ElicitRequest(params=_form(call))}, request_state=ticket)

    def take_up(self, params: CallToolRequestParams) -> LiveRun[RunAnswer]:
        """The run that waits for the answers in ``params``, and now continues. Raises: UsageError: no run waits for
        them.
        """
        from mcp_types import ElicitResult

        live = self._asked.pop(params.request_state or "", None)
        if live is None:
            raise UsageError("no run waits for this answer any more; send the plan again without request_state")
        answer = (params.input_responses or {}).get(_KEY)
        live.answer(isinstance(answer, ElicitResult) and _allows(answer))
        return live


def _form(call: ApprovalNeeded) -> ElicitRequestFormParams:
    from mcp_types import ElicitRequestFormParams

    shown, is_cut = call_text(call.tool, call.arguments)
    cut = " Some of the arguments are too long to show; … stands for what is left out." if is_cut else ""
    said = f" Its server says: {call.hint}." if call.hint else ""
    return ElicitRequestFormParams(message=f"The plan calls {shown}.{cut}{said} Allow it?", requested_schema=_FORM)


def _allows(answer: ElicitResult) -> bool:
    return answer.action == "accept" and (answer.content or {}).get("allow") is True
