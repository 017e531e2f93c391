"""The options in a command's help, in groups: what is played, its tools, the model, the budget, the recordings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from typer.core import TyperCommand

if TYPE_CHECKING:
    from typer._click.core import Context
    from typer._click.formatting import HelpFormatter

GROUPS: Final = {
    "Task": ("--env", "--task", "--split", "--kind", "--seed", "-n", "--repeats", "--trainings", "--data"),
    "Tools": (
        "--tools",
        "--mcp",
        "--mcp-config",
        "--mcp-timeout",
        "--verify",
        "--allow",
        "--ask",
        "--deny",
        "--tool-errors",
        "--in-doubt",
    ),
    "Options": (),
    "Model": (
        "--model",
        "--base-url",
        "--api",
        "--prices",
        "--temperature",
        "--mistakes",
        "--model-seed",
        "--cache",
        "--ask-model",
        "--refine-model",
        "--executor-model",
    ),
    "Budget": ("--max-actions", "--max-model-calls", "--max-tokens", "--max-money", "--max-seconds"),
    "Recording": ("--out", "--record", "--replay"),
}
"""The options by group. "Options" holds all that no other group names."""

_TITLES: Final = {option: title for title, options in GROUPS.items() for option in options}


class GroupedOptions(TyperCommand):
    """A command whose help shows its options in groups."""

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the arguments, then each group that the command has options of."""
        rows: dict[str, list[tuple[str, str]]] = {title: [] for title in ("Arguments", *GROUPS)}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None:
                is_argument = parameter.param_type_name == "argument"
                rows["Arguments" if is_argument else _TITLES.get(parameter.opts[0], "Options")].append(row)
        for title, found in rows.items():
            if found:
                with formatter.section(title):
                    formatter.write_dl(found)
