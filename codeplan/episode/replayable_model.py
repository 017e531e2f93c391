"""The model of an episode, or the recording that answers in its place."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from codeplan.episode.embedding import find_embedding_model
from codeplan.episode.meter import Meter
from codeplan.episode.text_limits import MAX_PROMPT_CHARS, MAX_REPLY_CHARS, bound_text, prompt_too_long, reply_too_long
from codeplan.errors import CodeplanError, ModelError, SizeExceeded, UsageError
from codeplan.protocols import LLM, CountsCalls
from codeplan.recording.activity import tell_model_call
from codeplan.recording.events import ActionTaken, Event, ModelCalled, ModelCallFailed, TextsEmbedded, WarningIssued
from codeplan.recording.trace import Trace
from codeplan.types import Completion, Embeddings, Message, Purpose, Usage
from codeplan.untrusted.noun_phrases import with_article
from codeplan.untrusted.terminal import parser_reason
from codeplan.untrusted.tracebacks import broken_model


class ReplayableModel:
    """Asks the model, charges the meter and records each call. During a replay the recording answers."""

    def __init__(self, llm: LLM, meter: Meter, trace: Trace, record: Callable[[Event], None]) -> None:
        self._llm = llm.for_episode() if isinstance(llm, CountsCalls) else llm
        self._meter, self._trace, self._record = meter, trace, record

    def ask(
        self, messages: Sequence[Message], purpose: Purpose, prompt: str, stop: Sequence[str], max_tokens: int | None
    ) -> Completion:
        """The model's answer; see ``Episode.ask``."""
        length = sum(len(message["content"]) for message in messages)
        if length > MAX_PROMPT_CHARS:
            raise prompt_too_long(length, purpose, made_by_agent=self._is_made_by_agent(purpose))
        try:
            called = self._call(messages, purpose, prompt, stop, max_tokens)
        except ModelError as e:
            if e.prompt_too_long and self._is_made_by_agent(purpose):
                raise SizeExceeded("context", None, str(e)) from None
            if e.reply_cut and purpose == "ask":  # the plan asked a question with an endless answer
                raise SizeExceeded("reply", None, str(e)) from None
            raise
        if called.cut_from:
            raise reply_too_long(called.cut_from)
        return called.completion

    def embed(self, texts: Sequence[str], model: str) -> Embeddings:
        """The vectors of texts; see ``Episode.embed``."""
        self.replay_embeddings()
        self._trace.next_recorded(TextsEmbedded)  # raises Diverged if another event is next in the recording
        embedding_model = find_embedding_model(self._llm)
        with self._meter.call("embed") as settle:
            started = time.perf_counter()
            try:
                answer = embedding_model.embed(texts, model=model)
            except ModelError as e:
                used, seconds = e.usage or Usage(), time.perf_counter() - started
                self._record(ModelCallFailed(purpose="embed", messages=[], error=str(e), usage=used, seconds=seconds))
                raise
            settle(answer.usage)
        about: dict[str, Any] = {"model": model, "texts": len(texts), "digest": _digest(texts)}
        self._record(TextsEmbedded(**about, usage=answer.usage, seconds=time.perf_counter() - started))
        return answer

    def replay_embeddings(self) -> None:
        """Replay the embedding calls that come next in the recording; see ``Episode.replay_embeddings``."""
        while event := self._upcoming_embedding():
            with self._meter.call("embed") as settle:
                self._record(event)
                if isinstance(event, ModelCallFailed):
                    raise _model_error_from(event)
                settle(event.usage)

    def _call(
        self, messages: Sequence[Message], purpose: Purpose, prompt: str, stop: Sequence[str], max_tokens: int | None
    ) -> ModelCalled:
        """Make and record one call. The event holds at most the start of a reply that is too long."""
        with self._meter.call(purpose) as settle:
            started = time.perf_counter()
            about: dict[str, Any] = {"purpose": purpose, "messages": list(messages), "prompt": prompt}
            try:
                answer = self._trace.next_recorded(ModelCalled, ModelCallFailed)
                if isinstance(answer, ModelCallFailed):
                    raise _model_error_from(answer)
                if isinstance(answer, ModelCalled):
                    completion, cut_from = answer.completion, answer.cut_from
                    if isinstance(self._llm, CountsCalls):
                        self._llm.count_call(messages, purpose=purpose, stop=stop, max_tokens=max_tokens)
                else:
                    with tell_model_call(purpose):
                        completion = self._complete(messages, purpose, stop, max_tokens)
                    text, cut_from = bound_text(completion.text, MAX_REPLY_CHARS)
                    completion = replace(completion, text=text)
            except ModelError as e:
                about |= {"error": str(e), "usage": e.usage or Usage(), "prompt_too_long": e.prompt_too_long}
                about |= {"reply_cut": e.reply_cut}
                self._record(ModelCallFailed(**about, seconds=time.perf_counter() - started))
                raise
            settle(completion.usage)
        seconds = time.perf_counter() - started
        called = ModelCalled(**about, completion=completion, seconds=seconds, cut_from=cut_from)
        self._record(called)
        if completion.warning:
            self._record(WarningIssued(message=completion.warning))
        return called

    def _complete(
        self, messages: Sequence[Message], purpose: Purpose, stop: Sequence[str], max_tokens: int | None
    ) -> Completion:
        try:
            completion = self._llm.complete(messages, purpose=purpose, stop=stop, max_tokens=max_tokens)
        except CodeplanError:
            raise
        except (Exception, SystemExit) as e:  # sys.exit(0) in a model must not end the program as a success
            if type(self._llm).__module__.partition(".")[0] == "codeplan":
                raise  # a bug of codeplan
            raise broken_model(self._llm.name, e) from e
        _require_recordable(completion, self._llm.name)
        return completion

    def _is_made_by_agent(self, purpose: Purpose) -> bool:
        """Whether the prompt of a call may contain text that a model, a plan or an action made in this episode.

        The reply to ``bind`` is never part of a later prompt.
        """
        return purpose == "ask" or any(
            isinstance(e, ActionTaken) or (isinstance(e, ModelCalled) and e.purpose != "bind")
            for e in self._trace.events
        )

    def _upcoming_embedding(self) -> TextsEmbedded | ModelCallFailed | None:
        failed = self._trace.peek_recorded(ModelCallFailed)
        return failed if failed and failed.purpose == "embed" else self._trace.peek_recorded(TextsEmbedded)


def _require_recordable(completion: object, name: str) -> None:
    """Raise UsageError unless a model returned a Completion that a trace can hold."""
    if not isinstance(completion, Completion):
        found = with_article(type(completion).__name__)
        raise UsageError(f"the model {name} returned {found}; complete must return a codeplan.Completion")
    if not isinstance(completion.usage, Usage):
        found = with_article(type(completion.usage).__name__)
        raise UsageError(f"the model {name} returned {found} as usage; give a codeplan.Usage")
    try:
        msgspec.convert(msgspec.to_builtins(completion), Completion)
    except (msgspec.ValidationError, TypeError) as e:
        raise UsageError(f"the model {name} returned a wrong Completion: {parser_reason(e)}") from None


def _model_error_from(recorded: ModelCallFailed) -> ModelError:
    error = ModelError(recorded.error)
    error.usage, error.prompt_too_long = recorded.usage, recorded.prompt_too_long
    error.reply_cut = recorded.reply_cut
    return error


def _digest(texts: Sequence[str]) -> str:
    """16 hexadecimal digits that identify the texts."""
    return hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()[:16]
