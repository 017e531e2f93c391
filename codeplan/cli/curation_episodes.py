"""How the episodes of ``codeplan skills discover``, ``filter`` and ``check`` run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codeplan.cli import model_options, options
from codeplan.cli.default_folders import new_run_folder

if TYPE_CHECKING:
    from codeplan.budget import Spending
    from codeplan.curation.curation_runner import CurationRunner

_WAYS_ON = {
    "discover": "the library keeps what was found until then; codeplan skills filter goes on with its candidates",
    "filter": "the library keeps what was found until then; to go on, repeat the command",
    "check": "to check the skills, repeat the command",
}
"""What a command says after Ctrl-C."""


Traces = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="The folder for the episodes' traces. [one in runs/]")
]


@dataclass(frozen=True)
class EpisodeOptions:
    """How the episodes run, and where their traces go."""

    model: model_options.OwnModel = None
    base_url: options.BaseUrl = None
    cache: options.Cache = None
    more: options.Set = None
    jobs: Annotated[int, typer.Option("-j", "--jobs", metavar="N", min=1, help="Episodes at a time.")] = 2
    out: Traces = None
    record: options.Record = None
    replay: options.Replay = None

    @contextlib.contextmanager
    def runner(
        self, command: str, env: str, tapes: dict[str, Any], spending: Spending, subfolder: str = ""
    ) -> Iterator[CurationRunner]:
        """The runner of the episodes, with a folder for their traces. Episodes from a tape leave no traces."""
        from codeplan.cli.progress import curation_progress
        from codeplan.curation.curation_runner import CurationRunner
        from codeplan.errors import UsageError
        from codeplan.untrusted.files import refuse_links

        out = self.out and self.out / subfolder
        if self.out and subfolder:
            refuse_links(self.out / subfolder, self.out)
        if out and tapes["tape"]:
            raise UsageError("episodes from a tape leave no traces; omit --out or --replay")
        config = options.load_config()
        given: dict[str, Any] = options.collect_settings(self.more, base_url=self.base_url, reply_cache=self.cache)
        name, given = options.select_model(config, self.model, given)
        given |= {"budget": options.make_budget(config), **tapes}
        kept = contextlib.nullcontext(out) if out or tapes["tape"] else new_run_folder("skills", command, env)
        with kept as folder, _say_how_to_go_on(command), curation_progress() as bar:
            yield CurationRunner(env, name, folder=folder, workers=self.jobs, observer=bar, spending=spending, **given)


@contextlib.contextmanager
def _say_how_to_go_on(command: str) -> Iterator[None]:
    """After Ctrl-C, say what is kept and how to go on.

    Raises: RunInterruptedError: the user interrupted the command.
    """
    from codeplan.cli.episode import RunInterruptedError

    try:
        yield
    except KeyboardInterrupt:
        raise RunInterruptedError(f"interrupted; {_WAYS_ON[command]}") from None
