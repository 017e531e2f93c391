"""Going back: an episode's world as it was at a moment, by a reset and the actions that led there."""

from __future__ import annotations

from codeplan.episode.episode import Episode
from codeplan.recording.events import ActionTaken, EnvironmentReset


def actions_since_reset(episode: Episode) -> tuple[str, ...]:
    """All actions since the world last began: what takes it from there to where it is."""
    done: list[str] = []
    for event in reversed(episode.trace.events):
        if isinstance(event, EnvironmentReset):
            break
        if isinstance(event, ActionTaken):
            done.append(event.action)
    return tuple(reversed(done))


def rewind(episode: Episode, actions: tuple[str, ...]) -> None:
    """Reset the world and do these actions again, each counted as any other. Nothing where that is where it is."""
    if actions_since_reset(episode) == actions:
        return
    with episode.span("rewind", f"to after {len(actions)} actions"):
        episode.restart()
        for action in actions:
            episode.act(action)
