"""A small folder of orders with tools to read and write it, as an environment for prompts."""

from __future__ import annotations

from typing import Any

from codeplan.tools.environment import ToolEnvironment
from codeplan.tools.toolset import Toolset, python_tools

GOAL = "Write the sum of the totals of all files in the folder orders into the file sum.txt, as a number alone."


def order_text(number: int) -> str:
    """An order, in one of two formats."""
    if number % 3:
        items = "\n".join(f"{n} x part {number}-{n} at {n * 5} EUR" for n in range(1, 4 + number))
        return f"ORDER {number}\n{items}\nTotal: {100 * number} EUR\n"
    return f"order={number};customer=Birch & Sons;sum={100 * number}\n"


class OrderFiles:
    """Files of text by path, in memory."""

    def __init__(self) -> None:
        self._files = {f"orders/{number:02}.txt": order_text(number) for number in range(1, 13)}

    def list_directory(self, path: str) -> str:
        """The names in a folder, a line each."""
        found = sorted(name.removeprefix(f"{path}/") for name in self._files if name.startswith(f"{path}/"))
        if not found:
            raise FileNotFoundError(f"there is no folder {path}")
        return "\n".join(f"[FILE] {name}" for name in found)

    def read_file(self, path: str) -> str:
        """The text of a file."""
        if path not in self._files:
            raise FileNotFoundError(f"there is no file {path}")
        return self._files[path]

    def write_file(self, path: str, content: str) -> str:
        """Write a text into a file, in place of what it held."""
        self._files[path] = content
        return f"wrote {len(content)} characters to {path}"

    def file_info(self, path: str) -> dict[str, Any]:
        """The size of a file in characters, and its number of lines."""
        text = self.read_file(path)
        return {"path": path, "size": len(text), "lines": text.count("\n")}


def order_environment(**options: Any) -> ToolEnvironment:
    """The tools as an environment; plans are not verified."""
    return ToolEnvironment(GOAL, Toolset(python_tools(OrderFiles())), **options)
