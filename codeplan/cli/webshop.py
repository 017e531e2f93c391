"""``codeplan webshop``: the shop for a person."""

from __future__ import annotations

from typing import Annotated

import typer

from codeplan.cli import options

TaskId = Annotated[str | None, typer.Option("--task", metavar="ID", help="The task to begin with, such as buy/3.")]


def add_to(app: typer.Typer) -> None:
    """Add this module's command."""
    group = typer.Typer(help="WebShop for a person.", rich_markup_mode=None)
    group.callback()(_webshop)
    group.command("serve", epilog="Example: codeplan webshop serve --task buy/3")(serve)
    app.add_typer(group, name="webshop")


def _webshop() -> None:
    """WebShop for a person."""


def serve(port: options.Port = 0, task: TaskId = None, data: options.Data = None, set: options.Set = None) -> None:
    """Serve the shop on this machine, until Ctrl-C, so that a person can do the task that an agent does.

    The first line on standard output is the address to open in a browser. Pages, goals and reward are the agent's.
    """
    from codeplan import envs
    from codeplan.envs.webshop.browser import ShopServer
    from codeplan.envs.webshop.environment import WebShop
    from codeplan.errors import UsageError

    env = envs.make("webshop", **options.collect_settings(set, data=data))
    if not isinstance(env, WebShop):
        raise UsageError(
            "another package has put its own environment in the place of webshop; it has no pages to serve"
        )
    with ShopServer(env, envs.select(env, id=task), port) as server:
        typer.echo(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            typer.echo(f"closed after {env.snapshot().actions} actions", err=True)
