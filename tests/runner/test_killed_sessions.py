"""A session that is killed goes on in the turn that was killed, and makes no call twice."""

from __future__ import annotations

from pathlib import Path

from support.killed_sessions import run


def test_each_turn_s_call_is_made_once(tmp_path: Path) -> None:
    kills, turns = 5, 10
    found = run(kills, turns, tmp_path, seed=kills)
    assert found.kills > kills // 2, "a quick session may end before it is killed as often as wanted"
    assert found.calls == dict.fromkeys(range(turns), 1)
