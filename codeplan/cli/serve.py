"""``codeplan serve-scripted``: an endpoint with the scripted stand-in, to test clients."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codeplan.cli import options
from codeplan.untrusted.texts import echo, with_count

if TYPE_CHECKING:
    from codeplan.standin.server.app import StandInServer

Latency = Annotated[float, typer.Option(min=0, metavar="MS", help="Milliseconds before each answer.")]
FaultSpec = Annotated[
    str,
    typer.Option(
        "--faults",
        metavar="SPEC",
        help="Simulated faults, KIND=RATE separated by commas: 429, 500, slow, cut, garbage, null, length; "
        "all=RATE divides a rate among them; seed=N, retry_after=S, slow_by=S.",
    ),
]
Log = Annotated[
    Path | None, typer.Option(metavar="FILE", help="A new file with a JSON line per request and its usage.")
]


def add_to(app: typer.Typer) -> None:
    """Add this module's command."""
    example = "Example: codeplan serve-scripted --latency 100 --faults all=0.1,seed=7 --log requests.jsonl"
    app.command("serve-scripted", epilog=example)(serve)


def serve(
    port: options.Port = 0,
    latency: Latency = 0.0,
    faults: FaultSpec = "",
    log: Log = None,
    mistakes: options.Mistakes = None,
    model_seed: options.ModelSeed = None,
) -> None:
    """Serve the scripted stand-in with OpenAI's API on this machine, until Ctrl-C.

    The first line on standard output is the base URL. The server offers Chat Completions, the Responses API (both with
    streams) and the list of models. A request with the header X-Codeplan-Fault gets the fault that the header names.
    """
    import asyncio

    from codeplan.runner import models
    from codeplan.standin.server.app import StandInServer
    from codeplan.standin.server.faults import FaultSettings

    given = options.collect_settings(None, mistakes=mistakes, model_seed=model_seed)
    model = models.connect("scripted", **given)
    endpoint = StandInServer(model, latency=latency / 1000, faults=FaultSettings.parse(faults), log=log)
    try:
        asyncio.run(_run(endpoint, port))
    except KeyboardInterrupt:
        echo(f"served {with_count(endpoint.request_count, 'request')}", err=True)


async def _run(endpoint: StandInServer, port: int) -> None:
    import asyncio

    echo(await endpoint.start(port))
    try:
        await asyncio.Event().wait()
    finally:
        await endpoint.stop()
