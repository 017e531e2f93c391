"""Counts the model calls that codeplan's procedure saves compared with the paper's, on the same episodes.

The paper's procedure asks the model to check every first plan, and after every refinement for the step to resume at.
The scripted stand-in replies, with mistakes. The ratio of calls depends on how often plans fail; the success rates say
nothing about models.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import codeplan
from codeplan import envs
from codeplan.bench.metrics import KindSummary, summarise_results

PAPER = {"code_check": "always", "resume_by": "model", "refine_prompt": "fresh"}


def main() -> None:
    """Print both rows of counts and the share of calls saved."""
    tasks = envs.make("household").tasks("test")
    ours, papers = counts({}, tasks), counts(PAPER, tasks)
    for name, row in (("codeplan", ours), ("the paper's", papers)):
        print(
            f"{name:12} {row.episodes} episodes, {row.successes} won, {row.refinements} refinements, "
            f"{row.asks} asks, {row.model_calls} model calls"
        )
    print(f"saved: {1 - ours.model_calls / papers.model_calls:.1%} of the paper's calls")


def counts(settings: dict[str, str], tasks) -> KindSummary:
    """The sums over all tasks with one procedure."""
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda task: codeplan.run("household", task, **settings), tasks))
    return summarise_results(results)[-1]


if __name__ == "__main__":
    main()
