"""Reads templates and renders them; values must fit a template exactly."""

from __future__ import annotations

import hashlib
import os
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from codeplan.errors import UsageError
from codeplan.types import Message
from codeplan.untrusted.values import in_quotes

if TYPE_CHECKING:
    from jinja2 import Template, nodes
    from jinja2.sandbox import SandboxedEnvironment

PACKAGE_FOLDER = Path(__file__).parent
BLOCKS: tuple[Literal["system"], Literal["user"]] = ("system", "user")


class _Loaded(NamedTuple):
    """A compiled template, the names of the values it uses, and its digest."""

    template: Template
    wanted: set[str]
    digest: str


class PromptError(UsageError):
    """A template is missing or broken, or values do not fit it. The message says which, why and what to do."""


class Prompts:
    """Templates by name (``"adaplanner/plan"``), from ``folder`` if it has the file, otherwise from this package.

    ``folder`` is None, or a folder with this package's layout. Values are inserted as they are, and never rendered.
    Each file is read once.

    Raises: PromptError: ``folder`` is not a folder.
    """

    @classmethod
    @cache
    def cached(cls, folder: Path | None = None) -> Prompts:
        """The Prompts of a folder, shared by all callers, so that each file is read and compiled once."""
        return cls(folder)

    def __init__(self, folder: Path | None = None) -> None:
        if folder is not None and not folder.is_dir():
            raise PromptError(f"there is no folder of prompts at {folder}; create it, or leave the setting out")
        self.folder = folder
        self._read: dict[str, _Loaded] = {}

    def messages(self, name: str, **values: object) -> list[Message]:
        """The chat messages that template ``name`` makes of ``values``: one ``system``, one ``user`` message.

        Raises: PromptError: the template is unknown or no chat template, or the values are not those that it uses.
        """
        template = self._template(name, values)
        for block in BLOCKS:
            if block not in template.blocks:
                raise PromptError(
                    f"the prompt {name} has no block {in_quotes(block)}; a chat prompt has {' and '.join(BLOCKS)}"
                )
        return [{"role": b, "content": self._text(name, template.blocks[b], template, values)} for b in BLOCKS]

    def render(self, name: str, **values: object) -> str:
        """The text that a plain template makes of ``values``. Raises PromptError as ``messages``."""
        template = self._template(name, values)
        return self._text(name, template.root_render_func, template, values)

    def sample(self, env: str, kind: str) -> str | None:
        """The worked example for an environment's kind of task, or None."""
        known = env and kind and not kind.startswith("_") and self._has(f"{env}/{kind}")
        return self.render(f"{env}/{kind}") if known else None

    def advice(self, env: str) -> str | None:
        """What plans for an environment should know beside its agent's description, or None."""
        return self.render(f"{env}/_advice") if env and self._has(f"{env}/_advice") else None

    def digest(self, name: str) -> str:
        """16 hexadecimal digits that identify the template and the files it includes. Raises PromptError."""
        return self._load(name).digest

    # -------------------------------------------------------------- reading templates

    @property
    def _folders(self) -> list[Path]:
        """The folders to search, in order."""
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
        """The template, after a check that ``values`` are exactly those that it uses."""
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
            self._read[name] = _Loaded(self._compile(name), wanted, digest[:16])
        return self._read[name]

    def _compile(self, name: str) -> Template:
        """The template, with what it includes in place: it runs as one function."""
        assert self._jinja.loader is not None
        _, file, _ = self._jinja.loader.get_source(self._jinja, f"{name}.j2")
        code = self._jinja.compile(self._tree(name), f"{name}.j2", file)
        return self._jinja.template_class.from_code(self._jinja, code, self._jinja.make_globals(None))

    def _tree(self, name: str, within: tuple[str, ...] = ()) -> nodes.Template:
        from jinja2 import nodes

        tree = self._jinja.parse(self._source(name), name)
        for statement in [tree, *tree.find_all(nodes.Stmt)]:
            for _, part in statement.iter_fields():
                if isinstance(part, list):
                    part[:] = [self._in_place(each, (*within, name)) for each in part]
        return tree

    def _in_place(self, node: Any, within: tuple[str, ...]) -> Any:
        """What an include stands for; any other node itself, and an include that has blocks or includes itself."""
        from jinja2 import nodes

        if not isinstance(node, nodes.Include) or not isinstance(node.template, nodes.Const) or not node.with_context:
            return node
        name = node.template.value.removesuffix(".j2")
        if name in within:
            return node
        tree = self._tree(name, within)
        if tree.find(nodes.Block) or tree.find(nodes.Extends):
            return node
        return nodes.Scope(tree.body, lineno=node.lineno)

    def _parts(self, name: str) -> list[str]:
        """The names of the template and of everything it includes, each once, in order."""
        from jinja2.meta import find_referenced_templates

        parts = [name]
        for part in parts:  # grows during the loop
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
        return ".." not in name and any(os.path.isfile(folder / f"{name}.j2") for folder in self._folders)

    def _names(self) -> set[str]:
        names = (n for n in self._jinja.list_templates(extensions=["j2"]) if not n.split("/")[-1].startswith("_"))
        return {n.removesuffix(".j2") for n in names}

    @staticmethod
    def _text(name: str, render: Any, template: Any, values: dict[str, object]) -> str:
        try:
            return "".join(render(template.new_context(values))).strip()
        except Exception as e:  # a template is a program and may fail in any way
            raise PromptError(f"the prompt {name} cannot be rendered: {e}") from None


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"
