"""The exceptions of codeplan: what a caller cannot expect. Expected outcomes are values (see ``types``).

    CodeplanError
    ├── UsageError              a name, path or setting that is wrong; one sentence says what to do      exit 2
    ├── BudgetExceeded          a budget of the episode is spent: which, how much, of how much           exit 3
    ├── EpisodeOver             an act after the environment had said done
    ├── Diverged                an episode does not do again what was recorded of it                    exit 1
    ├── AgentError              raised by an agent's method to tell the plan what was wrong with a call
    └── InfrastructureError     something around the agent failed; the agent is not to blame             exit 4
        ├── ModelError          the endpoint: unreachable, refused the key, answered nonsense
        ├── EnvironmentFailure  the environment broke
        ├── SandboxError        the cage could not be built, or the runtime's own part of it died
        └── TraceFailure        the trace can no longer be written: the disk is full, say

Everything raised inside a plan stays inside the sandbox and comes back as ``Failed``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codeplan.types.model import Usage


class CodeplanError(Exception):
    """Base of all: ``str()`` is one clear sentence, fit to show to a person."""

    exit_code = 4


class UsageError(CodeplanError):
    """Bad input: what is wrong, where, and what to do."""

    exit_code = 2


class BudgetExceeded(CodeplanError):
    """A budget is spent: ``kind`` names the field of ``Budget``; ``value`` would be reached, ``limit`` is allowed."""

    exit_code = 3

    def __init__(self, kind: str, value: float, limit: float) -> None:
        unit = {"money": "US dollars"}.get(kind, kind.replace("_", " "))
        super().__init__(f"the budget of {limit:g} {unit} is spent")
        self.kind, self.value, self.limit = kind, value, limit


class EpisodeOver(CodeplanError):
    """The environment has ended this episode; nothing that is done now would count."""


class Diverged(CodeplanError):
    """An episode that is done again does something else than was recorded; the message shows the difference."""

    exit_code = 1


class AgentError(CodeplanError):
    """Raised by an agent's method: the message goes to the plan as the text of a RuntimeError."""


class InfrastructureError(CodeplanError):
    """Something around the agent failed. Such an episode says nothing about the agent."""


class ModelError(InfrastructureError):
    """The model's endpoint could not be used; the message says which, why and what to try.

    ``usage`` is what the endpoint says that the failed call spent, None where it says nothing.
    """

    usage: Usage | None = None


class EnvironmentFailure(InfrastructureError):
    """The environment itself broke."""


class SandboxError(InfrastructureError):
    """The cage could not be built as strongly as asked, or the runtime's own side of it died."""


class TraceFailure(InfrastructureError):
    """An event could not be written; the episode stops, since what is not recorded did not happen."""
