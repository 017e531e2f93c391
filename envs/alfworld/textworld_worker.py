"""The process that plays ALFWorld's games in TextWorld. It runs as a script and imports nothing from codeplan.

Requests and answers are lines of JSON on standard input and output. ``{"load": FILE}`` begins a game and ``{"step":
ACTION}`` does an action. An answer has ``text``, ``won`` and ``commands``, or ``error``.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Any


def main() -> None:
    """Answer requests until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # the planner prints to standard output
    env: Any = None
    for line in sys.stdin:
        try:
            request = json.loads(line)
            if "load" in request:
                env = _engine()
                env.load(request["load"])
                state = env.reset()
            else:
                state, _, _ = env.step(request["step"])
            answer = {"text": state.feedback, "won": bool(state["won"]), "commands": list(state["admissible_commands"])}
        except ImportError as e:
            answer = {"error": f"it is not installed ({e}); pip install 'codeplan[textworld]' installs it"}
        except Exception as e:  # the requesting process reports the error
            answer = {"error": f"{type(e).__name__}: {e}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _engine() -> Any:
    textworld: Any = import_module("textworld")
    pddl: Any = import_module("textworld.envs").PddlEnv
    with_names: Any = import_module("alfworld.agents.environment.alfred_tw_env").AlfredDemangler
    return with_names(pddl(textworld.EnvInfos(won=True, admissible_commands=True)))


if __name__ == "__main__":
    main()
