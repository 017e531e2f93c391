"""A recording as a list of events that shows itself briefly."""

from __future__ import annotations

from codeplan.recording.events import Event
from codeplan.types.display import MAX_PART, MAX_ROWS, html_list, html_text, html_value
from codeplan.untrusted.noun_phrases import with_count


class Recording(list[Event]):
    """The events of a trace. It is a list that shows itself briefly, and as a numbered table in a notebook."""

    def __repr__(self) -> str:
        return f"<{with_count(len(self), 'event')} of a trace>"

    def _repr_html_(self) -> str:
        """The first MAX_ROWS events as a table, for a notebook."""
        rows = map(_event_row, self[:MAX_ROWS])
        return html_list(with_count(len(self), "event"), ("seq", "Event", "Content"), rows, len(self) - MAX_ROWS)


def _event_row(event: Event) -> tuple[str, str, str]:
    shown = event._shown().items()
    content = "<br>".join(f"{html_text(name)}: {html_value(part, MAX_PART)}" for name, part in shown)
    return str(event.seq), html_text(type(event).__name__), content
