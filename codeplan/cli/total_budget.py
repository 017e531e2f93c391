"""The budget of all episodes of a command together, and what they spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from codeplan.untrusted.texts import echo_message

if TYPE_CHECKING:
    from codeplan.budget import Spending


@dataclass(frozen=True)
class TotalBudgetOptions:
    """What all episodes together may spend."""

    max_money: Annotated[float | None, typer.Option(metavar="USD", help="US dollars for all episodes together.")] = None
    max_tokens: Annotated[
        int | None, typer.Option(metavar="N", help="Tokens, in and out, for all episodes together.")
    ] = None
    max_seconds: Annotated[float | None, typer.Option(metavar="S", help="Seconds for all episodes together.")] = None

    def start(self) -> Spending:
        """Begin to count.

        Raises: UsageError: a limit is negative.
        """
        from codeplan.budget import Spending, TotalBudget

        return Spending(TotalBudget(money=self.max_money, tokens=self.max_tokens, seconds=self.max_seconds))


def end_spending(spending: Spending, as_json: bool, saved: str) -> None:
    """Print what was spent; to standard error where standard output is for JSON.

    Raises: BudgetExceeded: it kept episodes from starting. ``saved`` says what is kept, and how to go on.
    """
    echo_message(f"spent: {spending}", err=as_json)
    if spending.stopped_by:
        spending.stopped_by.add_note(saved)
        raise spending.stopped_by
