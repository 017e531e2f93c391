"""A cache of replies on disk: a question that was already asked with the same settings costs nothing the second time.

A reply's key is the SHA-256 of the model, its settings, the messages, the purpose, the call's limits, and how often
this episode has asked the same question before. So a repeated question within an episode has a reply of its own, and
an episode that runs again finds the same replies in the same order. Each reply is a file, ``FOLDER/ab/abcdef….json``.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from codeplan.errors import UsageError
from codeplan.protocols import LLM
from codeplan.types import Completion, Message, Purpose
from codeplan.untrusted import files
from codeplan.untrusted.texts import one_line

MAX_ENTRY_BYTES: Final = 4 << 20
"""The largest file of a reply. A larger reply is not kept, and a larger file is not read."""

_FORMAT = 1
_NOT_IN_KEY = frozenset({"price"})  # it changes no reply


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: int
    key: str
    completion: Completion


class CachedModel:
    """Passes a call to ``main`` if its reply is not in ``folder``, and then keeps the reply there.

    A reply from the cache has ``usage.reused_replies`` 1 and costs nothing; its tokens are those of the first call. If
    a file is not a valid reply, the model is asked again, and the completion's ``warning`` says so. ``identity``
    distinguishes models in addition to the settings that they report themselves. Safe to use from several threads.

    Raises: UsageError: ``folder`` is a file.
    """

    def __init__(self, main: LLM, folder: Path, identity: Mapping[str, Any] | None = None) -> None:
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"the cache of replies {folder} is a file; name a folder")
        self.main, self.name = main, main.name
        self._folder, self._identity = folder, dict(identity or {})
        self._asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"CachedModel({self.main!r})"

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the model behind the cache."""
        return dict(getattr(self.main, "settings", {}))

    def for_episode(self) -> CachedModel:
        """This model for one episode, which has asked nothing yet."""
        return CachedModel(self.main, self._folder, self._identity)

    def count_call(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> None:
        """Count a call that a recording answered."""
        self._count(self._question(messages, purpose, stop, max_tokens))

    def complete(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        """The reply from the cache, or else the model's; raises what the model raises. No failure is kept."""
        question = self._question(messages, purpose, stop, max_tokens)
        key = _digest([question, self._asked[question]])
        found, warning = self._read(key)
        if found is None:
            found = self.main.complete(messages, purpose=purpose, stop=stop, max_tokens=max_tokens)
            warning = self._write(key, found) or warning
        self._count(question)
        return msgspec.structs.replace(found, warning=warning) if warning else found

    def _count(self, question: str) -> None:
        with self._lock:
            self._asked[question] += 1

    def _question(
        self, messages: Sequence[Message], purpose: Purpose, stop: Sequence[str], max_tokens: int | None
    ) -> str:
        settings = {name: value for name, value in self.settings.items() if name not in _NOT_IN_KEY}
        said = [[m["role"], m["content"]] for m in messages]
        return _digest([_FORMAT, self.name, settings, self._identity, said, purpose, list(stop), max_tokens])

    def _file(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"

    def _read(self, key: str) -> tuple[Completion | None, str]:
        """The kept reply, None if there is none; and a sentence if its file is no reply."""
        file = self._file(key)
        try:
            entry = msgspec.json.decode(files.read_bytes(file, MAX_ENTRY_BYTES, self._folder), type=_Entry)
        except FileNotFoundError:
            return None, ""
        except OSError as e:
            return None, _ignored(file, e.strerror or "it cannot be read")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None, _ignored(file, "it is damaged, or no reply")
        if (entry.format, entry.key) != (_FORMAT, key):
            return None, _ignored(file, "it belongs to another question or another version")
        usage = msgspec.structs.replace(entry.completion.usage, money=0.0, reused_replies=1)
        return msgspec.structs.replace(entry.completion, usage=usage, retries=0, warning=""), ""

    def _write(self, key: str, completion: Completion) -> str:
        """Keep a reply. Returns a sentence if that is impossible; a reply that is too large is not kept."""
        plain = msgspec.to_builtins(_Entry(_FORMAT, key, msgspec.structs.replace(completion, warning="")))
        content = json.dumps(plain).encode()
        if len(content) > MAX_ENTRY_BYTES:
            return ""
        file = self._file(key)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            files.create_folder(file.parent, self._folder)
            files.write_atomically(file, content, self._folder)
        except OSError as e:
            return one_line(f"the cache of replies {self._folder} cannot be written: {e.strerror}")
        return ""


def _ignored(file: Path, why: str) -> str:
    return one_line(f"a file of the cache of replies is ignored ({why}), and the model is asked anew: {file}")


def _digest(value: object) -> str:
    text = json.dumps(msgspec.to_builtins(value), sort_keys=True)  # ASCII: prompts may hold lone surrogates
    return hashlib.sha256(text.encode()).hexdigest()
