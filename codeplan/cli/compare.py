"""``codeplan compare``: the results of benches side by side."""

from __future__ import annotations

from typing import Annotated

import typer

from codeplan.cli import options
from codeplan.untrusted.texts import echo

First = Annotated[str, typer.Argument(metavar="A", help="A bench's folder, or FOLDER:CELL.")]
Second = Annotated[str | None, typer.Argument(metavar="[B]", help="Another; without it, the cells of A.")]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="FORM", help="markdown, csv, latex or json. [plain columns on a terminal, else markdown]"
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command("compare", epilog="Example: codeplan compare runs/one runs/two --format latex")(compare)


def compare(
    first: First,
    second: Second = None,
    form: Format = None,
    metrics: options.Metrics = None,
    as_json: options.Json = False,
) -> None:
    """Compare two benches, or the cells of one: success rates, means, intervals, tests.

    Episodes are paired by task and repeat. The tables show each cell's figures by kind of task. For each pair of cells
    they show the difference in success rate (Tango's interval at 95 %, McNemar's exact test), the difference in means
    (bootstrap over the tasks), and how many more pairs a conclusion would need. Published results on the suite have a
    table of their own.
    """
    from codeplan.bench.cell_comparison import build_overview
    from codeplan.bench.metrics import parse_metrics
    from codeplan.bench.tables import TABLE_FORMATS, build_tables, format_tables
    from codeplan.bench.trainings import build_training_tables
    from codeplan.cli.bench_table import bench_table_text
    from codeplan.cli.text_tables import terminal_width
    from codeplan.errors import UsageError

    if form not in (None, "json", *TABLE_FORMATS):
        raise UsageError(f"there is no format {form!r}; there are: {', '.join([*TABLE_FORMATS, 'json'])}")
    comparison = build_overview(first, second, () if metrics is None else parse_metrics(metrics))
    if as_json or form == "json":
        statistics, comparisons = dict(comparison.statistics), comparison.comparisons
        left_out = {"cells": comparison.cells_left_out, "kinds": comparison.kinds_left_out}
        published = comparison.published
        options.print_json(
            {"statistics": statistics, "comparisons": comparisons, "published": published, "left_out": left_out}
        )
        return
    benches = {str(side.bench.folder): side.bench for side in comparison.cells}
    of_trainings = [table for bench in benches.values() for table in build_training_tables(bench)]
    tables, width = [*build_tables(comparison), *of_trainings], terminal_width()
    if form is None and width is not None:
        echo("\n\n".join(bench_table_text(table, width) for table in tables))
    else:
        echo(format_tables(tables, form or "markdown"), end="")
