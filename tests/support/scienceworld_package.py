"""Plays games with the package ``scienceworld`` and nothing of codeplan. Games and answers are JSON on the standard
streams: ``{"kind", "variation", "actions", "simplifications"}``; without ``actions`` the gold path is played.

An answer has ``actions``, ``goal``, ``splits``, and ``answers``: a text, a score and whether the game is over, for the
first look around and for each action.
"""

import json
import sys

from scienceworld import ScienceWorldEnv


def main() -> None:
    env = ScienceWorldEnv(envStepLimit=10_000)
    # ``step`` also lists all valid actions, which draws random numbers: what happens afterwards depends on it. The
    # search for a gold path lists none, so its paths need not win if they are listed.
    env.get_valid_action_object_combinations = list
    json.dump([play(env, **game) for game in json.load(sys.stdin)], sys.stdout)
    sys.stdout.flush()
    env.close()


def play(env: ScienceWorldEnv, kind: str, variation: int, actions=None, simplifications: str = "") -> dict:
    env.load(kind, variation, simplifications, generateGoldPath=actions is None)
    path = env.get_gold_action_sequence() if actions is None else actions
    env.load(kind, variation, simplifications)
    text, info = env.reset() if actions is not None else first_look(env)
    answers = [(text, info["score"], False)]
    for action in path:
        text, _, done, info = env.step(action)
        answers.append((text, info["score"], done))
    return {"actions": path, "goal": env.get_task_description(), "answers": answers, "splits": splits(env)}


def first_look(env: ScienceWorldEnv):
    """The first move of ``reset``, which would search the gold path again: that can take half a minute."""
    text, _, _, info = env.step("look around")
    return text, info


def splits(env: ScienceWorldEnv) -> dict[str, list[int]]:
    return {"train": env.get_variations_train(), "dev": env.get_variations_dev(), "test": env.get_variations_test()}


if __name__ == "__main__":
    main()
