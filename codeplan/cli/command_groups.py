"""The commands in ``--help``, each with its whole summary; codeplan's own in groups, in the order of a user's work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from typer.core import TyperGroup

if TYPE_CHECKING:
    from typer._click.core import Context
    from typer._click.formatting import HelpFormatter

GROUPS: Final = {
    "Episodes": ("run", "do", "resume", "replay", "show", "fork"),
    "Plans": ("check", "exec", "mcp", "test", "mutate", "new-test"),
    "Experiments": ("bench", "papers", "compare", "report", "view", "learn", "skills"),
    "What there is": ("envs", "tasks", "methods"),
    "This machine": ("doctor", "sandbox", "trust", "serve-scripted"),
}
"""The commands, by group."""


class GroupedCommands(TyperGroup):
    """The group of all commands. Help lists a command that is in no group under "More"."""

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the groups with their commands."""
        left = dict.fromkeys(self.list_commands(ctx))
        for title, names in {**GROUPS, "More": [name for name in left if name not in _GROUPED]}.items():
            rows = [(name, _summary(self.commands[name].help or "")) for name in names if name in self.commands]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class WholeSummaries(TyperGroup):
    """A group of commands whose help never shortens a summary, and is what the group prints without a command."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Parse the arguments; none are ``--help``."""
        return super().parse_args(ctx, args or ["--help"])

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the commands in the order of their registration."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _summary(self.commands[name].help or "")) for name in self.list_commands(ctx)])


_GROUPED: Final = frozenset(name for names in GROUPS.values() for name in names)


def _summary(text: str) -> str:
    """The first paragraph of a help text, without its last full stop."""
    return " ".join(text.split("\n\n")[0].split()).rstrip(".")
