"""Takes an episode's environment back to an earlier state: resets it and repeats the actions that led there."""

from __future__ import annotations

from codeplan.episode.episode import Episode
from codeplan.errors import UsageError
from codeplan.recording.event_log import events_of, standing_events
from codeplan.recording.events import CallBegun, EnvironmentReset
from codeplan.types import Call


def actions_since_reset(episode: Episode) -> tuple[Call, ...]:
    """All actions since the latest reset that the present state comes from, in order."""
    actions: dict[int, Call] = {}  # a call that was made again has begun twice
    for event in events_of(standing_events(episode.trace.events)[::-1], EnvironmentReset, CallBegun):
        if isinstance(event, EnvironmentReset):
            break
        actions.setdefault(event.id, event.call)
    return tuple(reversed(actions.values()))


def require_fresh_world(episode: Episode, what: str, instead: str) -> None:
    """Raises: UsageError: actions are real here, so ``what`` cannot start over; take ``instead``."""
    if episode.acts_for_real:
        raise UsageError(f"{what} starts over, but tools act in the real world, which cannot go back; take {instead}")


def rewind(episode: Episode, actions: tuple[Call, ...]) -> None:
    """Reset the environment and repeat these actions, which count as usual. Does nothing if the environment is in that
    state already.
    """
    if actions_since_reset(episode) == actions:
        return
    with episode.span("rewind", f"to after {len(actions)} actions"):
        episode.restart()
        for action in actions:
            episode.call(action)
