"""The words that codeplan says to a model: ``.j2`` files by method and by environment, rendered strictly.

A chat template has two blocks, ``system`` (what stays the same from task to task, so that endpoints can cache it) and
``user`` (this task). A worked example is a plain file, ``<environment>/<kind>.j2``. Nothing is read before it is used.
"""

from __future__ import annotations

import hashlib
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.sandbox import SandboxedEnvironment


PACKAGE_FOLDER = Path(__file__).parent
BLOCKS: tuple[Literal["system"], Literal["user"]] = ("system", "user")


class Message(TypedDict):
    """One chat message, in the form every chat endpoint takes."""

    role: Literal["system", "user", "assistant"]
    content: str


class _Loaded(NamedTuple):
    """A template that was read: compiled, with the names of the values that it uses and its digest."""

    template: Template
    wanted: set[str]
    digest: str


class PromptError(ValueError):
    """A template that is missing or broken, or values that do not fit it: which, why and what to do."""


class Prompts:
    """Templates by name (``"adaplanner/plan"``), from ``folder`` where it has the file and from the package otherwise.

    ``folder`` is None, or an existing folder laid out as this package is. Values go into a prompt as they are and are
    never taken for templates themselves. Each file is read once. Raises PromptError where ``folder`` is not a folder.
    """

    @classmethod
    @cache
    def cached(cls, folder: Path | None = None) -> Prompts:
        """The same Prompts for the same folder, however often it is asked for: its files are read and compiled once."""
        return cls(folder)

    def __init__(self, folder: Path | None = None) -> None:
        if folder is not None and not folder.is_dir():
            raise PromptError(f"there is no folder of prompts at {folder}; create it or leave the setting out")
        self.folder = folder
        self._read: dict[str, _Loaded] = {}

    def messages(self, name: str, **values: object) -> list[Message]:
        """The chat messages that template ``name`` makes of ``values``: one of role ``system``, one of role ``user``.

        Raises PromptError for an unknown template, a value that is missing or one that the template does not use.
        """
        template = self._template(name, values)
        for block in BLOCKS:
            if block not in template.blocks:
                raise PromptError(f"the prompt {name} has no block {block!r}; a chat prompt has {' and '.join(BLOCKS)}")
        return [{"role": b, "content": self._text(name, template.blocks[b], template, values)} for b in BLOCKS]

    def render(self, name: str, **values: object) -> str:
        """The text that a plain template makes of ``values``. Raises PromptError as ``messages`` does."""
        template = self._template(name, values)
        return self._text(name, template.root_render_func, template, values)

    def sample(self, env: str, kind: str) -> str | None:
        """The worked example for an environment's kind of task; None where there is none."""
        return self.render(f"{env}/{kind}") if env and kind and self._has(f"{env}/{kind}") else None

    def digest(self, name: str) -> str:
        """16 hexadecimal digits that change when the template, or a file it includes, changes. Raises PromptError."""
        return self._load(name).digest

    # -------------------------------------------------------------- reading templates

    @property
    def _folders(self) -> list[Path]:
        """Where templates are looked for, the first that has one wins."""
        return [PACKAGE_FOLDER] if self.folder is None else [self.folder, PACKAGE_FOLDER]

    @cached_property
    def _jinja(self) -> SandboxedEnvironment:
        from jinja2 import FileSystemLoader, StrictUndefined
        from jinja2.sandbox import SandboxedEnvironment

        return SandboxedEnvironment(
            loader=FileSystemLoader(self._folders),
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def _template(self, name: str, values: dict[str, object]) -> Template:
        """The template, once ``values`` are known to be exactly those that it uses."""
        template, wanted, _ = self._load(name)
        if missing := sorted(wanted - set(values)):
            raise PromptError(f"the prompt {name} needs a value for {', '.join(missing)}")
        if unknown := sorted(set(values) - wanted):
            raise PromptError(f"the prompt {name} does not use {', '.join(unknown)}; it uses {_list(wanted)}")
        return template

    def _load(self, name: str) -> _Loaded:
        from jinja2.meta import find_undeclared_variables

        if name not in self._read:
            sources = {part: self._source(part) for part in self._parts(name)}
            wanted = {v for source in sources.values() for v in find_undeclared_variables(self._jinja.parse(source))}
            digest = hashlib.sha256("\0".join(f"{n}\0{source}" for n, source in sources.items()).encode()).hexdigest()
            self._read[name] = _Loaded(self._jinja.get_template(f"{name}.j2"), wanted, digest[:16])
        return self._read[name]

    def _parts(self, name: str) -> list[str]:
        """The names of the template and of all that it includes, each once, in order."""
        from jinja2.meta import find_referenced_templates

        parts = [name]
        for part in parts:  # grows while it is walked
            found = find_referenced_templates(self._jinja.parse(self._source(part)))
            parts += [n for f in found if f and (n := f.removesuffix(".j2")) not in parts]
        return parts

    def _source(self, name: str) -> str:
        from jinja2 import TemplateNotFound, TemplateSyntaxError

        assert self._jinja.loader is not None
        try:
            source, _, _ = self._jinja.loader.get_source(self._jinja, f"{name}.j2")
            self._jinja.compile(source, name)
        except TemplateNotFound:
            raise PromptError(f"there is no prompt {name}; there are {_list(self._names())}") from None
        except UnicodeDecodeError:
            raise PromptError(f"the prompt {name} is not UTF-8 text; save it as UTF-8") from None
        except TemplateSyntaxError as e:
            raise PromptError(f"the prompt {name} cannot be read: line {e.lineno}: {e.message}") from None
        return source

    def _has(self, name: str) -> bool:
        return ".." not in name and any((folder / f"{name}.j2").is_file() for folder in self._folders)

    def _names(self) -> set[str]:
        names = (n for n in self._jinja.list_templates(extensions=["j2"]) if not n.split("/")[-1].startswith("_"))
        return {n.removesuffix(".j2") for n in names}

    @staticmethod
    def _text(name: str, render: Any, template: Any, values: dict[str, object]) -> str:
        try:
            return "".join(render(template.new_context(values))).strip()
        except Exception as e:  # a template is a program of its author's: it may fail in any way
            raise PromptError(f"the prompt {name} cannot be rendered: {e}") from None


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"
