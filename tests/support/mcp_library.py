"""An MCP server of the official package: the tools of a small library. Its arguments name the transport and the port."""

import os
import sys
from typing import Literal

from mcp.server.mcpserver import Image, MCPServer
from mcp_types import ToolAnnotations
from typing_extensions import TypedDict

server = MCPServer("library", log_level="ERROR")
_LOANS: list[str] = []


class Book(TypedDict):
    title: str
    stars: int


@server.tool()
def find(subject: Literal["birds", "trees"], least: int = 0) -> list[Book]:
    """Find books on a subject."""
    books = [Book(title=f"All about {subject}", stars=3), Book(title=f"More {subject}", stars=5)]
    return [book for book in books if book["stars"] >= least]


@server.tool()
def lend(book: Book, to: str | None = None) -> str:
    """Lend a book."""
    if to == "nobody":
        raise ValueError("nobody does not read")
    _LOANS.append(book["title"])
    return f"{book['title']} goes to {to or 'you'}; {len(_LOANS)} lent"


@server.tool()
def cover(title: str) -> Image:
    """The cover of a book."""
    return Image(data=b"\x89PNG " + title.encode(), format="png")


@server.tool(annotations=ToolAnnotations(destructive_hint=True, idempotent_hint=True, open_world_hint=False))
def burn() -> str:
    """The server dies."""
    os._exit(3)


if __name__ == "__main__":
    if sys.argv[1:]:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
