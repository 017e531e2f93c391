"""The recorded games and episodes of ALFWorld, word for word."""

import re

import pytest
from support.alfworld_files import recorded, transcripts

from codeplan.envs.alfworld.environment import make
from codeplan.envs.household.walkthrough import find_walkthrough
from codeplan.types import Task


def test_recorded_episodes_replay_with_the_same_observations_and_success():
    env = make(data=str(recorded("put")), arrival="recorded", actions=1000)
    compared = 0
    for episode in transcripts():
        first = env.reset(Task(episode["id"]))
        assert (
            first.text
            == f"-= Welcome to TextWorld, ALFRED! =-\n\n{episode['room']}\n\nYour task is to: {episode['goal']}"
        )
        answers = [env.step(action) for action, _ in episode["steps"] if not action.startswith("think:")]
        told = [text for action, text in episode["steps"] if not action.startswith("think:")]
        assert [answer.text for answer in answers] == told, episode["id"]
        assert any(answer.success for answer in answers) == episode["success"], episode["id"]
        compared += len(told)
    assert compared > 700


@pytest.mark.parametrize("dialect", ["put", "move"])
def test_stored_and_computed_walkthroughs_win_in_both_dialects(dialect):
    env, stored = make(data=str(recorded(dialect)), actions=1000), make(data=str(recorded("move")))
    tasks = env.tasks("valid_unseen")
    assert len(tasks) == 67
    for task in tasks:
        for actions in (stored.game(task).walkthrough, find_walkthrough(env.game(task))):
            env.reset(task)
            *before, last = [env.step(said(action, dialect)) for action in actions]
            assert last.success, task.id
            assert not any(answer.done for answer in before)


def said(action, dialect):
    """An action of either dialect in this dialect."""
    put = re.fullmatch(r"(?:put|move) (.*) (?:in/on|to) (.*)", action)
    if not put:
        return action
    return ("put {} in/on {}" if dialect == "put" else "move {} to {}").format(*put.groups())
