"""Answers, from any process and at any time, the call for which an episode waits; recognises the user's own answers.

A trace may come from a stranger, and an approval in it allows no call. An answer therefore carries a code
(HMAC-SHA-256) made with a key of the user's. It covers the trace before the answer, and the answer itself: it fits no
other trace.
"""

from __future__ import annotations

import hmac
import os
import secrets
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from codeplan.durable_files import config_folder, exclusive_lock, make_private
from codeplan.errors import UsageError
from codeplan.recording.events import ApprovalAnswered, CallDecided, EpisodeEnded, Event
from codeplan.recording.trace import Trace, replace_end
from codeplan.runner.episodes import find_trace
from codeplan.tools.approvals import MAX_APPROVAL_CHARS
from codeplan.types import Waiting
from codeplan.untrusted import files
from codeplan.untrusted.texts import echo_message, is_utf8

KEY_BYTES: Final = 32
"""Size of the user's key, in bytes."""

_KEY: Final = "approvals.key"


def approve(folder: Path | str, allowed: bool = True, reason: str = "") -> ApprovalAnswered:
    """Answer the call for which the episode in ``folder`` waits; ``resume`` then goes on at this call.

    Returns the answer as the trace has it, with the call. ``reason`` says to plan and model why the call is not
    ``allowed``. Of several answers, the first counts.

    Raises: UsageError: there is no such episode, it does not wait, or the call was answered already; or the reason is
    too long, or given for an approval.
    """
    if not isinstance(allowed, bool):
        raise UsageError("allowed is True or False")
    if not isinstance(reason, str) or len(reason) > MAX_APPROVAL_CHARS or not is_utf8(reason):
        raise UsageError(f"the reason is a text of at most {MAX_APPROVAL_CHARS:,} characters")
    if allowed and reason:
        raise UsageError("a reason says why a call is not allowed; leave it out")
    path, key = find_trace(folder), _own_key()

    def make(events: Sequence[Event], count: int, before: bytes) -> ApprovalAnswered:
        end = events[-1]
        decided = next((e for e in events[count:] if isinstance(e, CallDecided)), None)
        if decided is None or not isinstance(end, EpisodeEnded):
            raise UsageError(f"the trace {path} is damaged: no call stands before its end")
        ending = end.result.ending
        assert isinstance(ending, Waiting), "only an episode that waits is answered"
        about: dict[str, Any] = {"id": decided.id, "call": ending.call, "allowed": allowed, "reason": reason}
        answer = ApprovalAnswered(**about, seq=count, at=events[count - 1].at)
        return replace(answer, mac=_code(key, before, answer))

    answered = replace_end(path, make)
    assert isinstance(answered, ApprovalAnswered), "that is what was made"
    return answered


def take_answer(trace: Trace) -> None:
    """Let the trace's last event decide about the call that comes next, if it is the user's own answer.

    One sentence on standard error says that an answer is ignored.
    """
    last = trace.recording[-1]
    if not isinstance(last, ApprovalAnswered):
        return
    key = _read_key(_key_file())
    if key is not None and hmac.compare_digest(_code(key, trace.digest_before_last(), last), last.mac):
        trace.approval = last
    else:
        echo_message(
            "the answer to an approval in this trace was not made with your key; it is ignored, and the call is "
            "decided anew",
            "codeplan: ",
            err=True,
        )


def _code(key: bytes, before: bytes, answer: ApprovalAnswered) -> str:
    content = msgspec.json.encode(replace(answer, mac=""), order="deterministic")
    return hmac.new(key, before + content, "sha256").hexdigest()


def _own_key() -> bytes:
    """The user's key, made on first use. Raises: UsageError: it cannot be read or made."""
    file = _key_file()
    if file is None:
        raise UsageError("there is no home folder for the key of your answers; set XDG_CONFIG_HOME to a folder")
    try:
        make_private(file.parent)
        with exclusive_lock(file.with_suffix(".lock")):
            if (key := _read_key(file)) is not None:
                return key
            made = secrets.token_bytes(KEY_BYTES)
            files.write_atomically(file, made)
            os.chmod(file, 0o600)
            return made
    except OSError as e:
        raise UsageError(f"the key of your answers cannot be written to {file}: {e.strerror}") from None


def _read_key(file: Path | None) -> bytes | None:
    """The key in the file; None if there is none. Raises: UsageError: it is damaged, or others may read it."""
    if file is None:
        return None
    try:
        key = files.read_bytes(file, KEY_BYTES)
        mode = file.stat().st_mode
    except FileNotFoundError:
        return None
    except OSError as e:
        raise UsageError(f"the key of your answers {file} cannot be read: {e.strerror}") from None
    if len(key) != KEY_BYTES:
        raise UsageError(f"the key of your answers {file} is damaged; remove it, then answer again")
    if hasattr(os, "geteuid") and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UsageError(f"others may read the key of your answers {file}; remove it, then answer again")
    return key


def _key_file() -> Path | None:
    folder = config_folder()
    return None if folder is None else folder / _KEY
