"""``codeplan papers``: the experiments of the papers, and how they are played."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from codeplan.cli import options

Name = Annotated[str | None, typer.Argument(metavar="[ID]", help="An experiment, as the list names it.")]
Folder = Annotated[
    Path | None, typer.Option("--bench", metavar="DIR", help="Show the figures of this bench of the experiment, too.")
]


def add_to(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command("papers", epilog="Example: codeplan papers adapt-table2")(papers)


def papers(name: Name = None, folder: Folder = None, as_json: options.Json = False) -> None:
    """List the papers' experiments, or show one: its cells with their settings, the published figures, caveats.

    Play one with 'codeplan bench paper:ID --model NAME'.
    """
    from codeplan.bench.papers import find_experiment, paper_experiments
    from codeplan.bench.store import read_bench
    from codeplan.cli.paper_tables import describe_experiment, list_experiments, print_experiment
    from codeplan.errors import UsageError

    if name is None:
        if folder:
            raise UsageError("name the experiment that the bench played: codeplan papers ID --bench DIR")
        every = paper_experiments()
        options.print_output(every, as_json, lambda: list_experiments(every))
        return
    experiment = find_experiment(name)
    if folder is None:
        document = {"experiment": experiment, "published": experiment.published}
        options.print_output(document, as_json, lambda: describe_experiment(experiment))
        return
    print_experiment(options.make_console(), experiment, read_bench(folder), folder)
