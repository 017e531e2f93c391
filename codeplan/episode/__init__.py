"""One attempt at one task: the only gate to the environment and the model."""

from __future__ import annotations

from codeplan.budget import Meter
from codeplan.episode.episode import Episode, agent_class, build_agent
from codeplan.episode.method import EpisodeOpener, Learner, Method

__all__ = ["Episode", "EpisodeOpener", "Learner", "Meter", "Method", "agent_class", "build_agent"]
