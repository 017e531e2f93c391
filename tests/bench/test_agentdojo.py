"""``codeplan bench agentdojo``: the package's tools, attacks and checks. Without the package, all but the tables is left out."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.agentdojo_plays import Play, PlayedModel, read_plays, run_play

from codeplan.bench import agentdojo
from codeplan.bench.agentdojo import SUITE, AgentDojoTasks, AgentDojoWorld, rates_tables
from codeplan.bench.bench_runner import remaining_jobs
from codeplan.bench.grid import BenchCell, BenchGrid
from codeplan.bench.papers import published_results
from codeplan.bench.store import BenchRecord, EpisodeOutcome, read_bench
from codeplan.cli.app import main
from codeplan.tools.toolset import python_tools
from codeplan.types import EnvironmentEnded, NotSolved, Result, Success, Task

ROOT = Path(__file__).parents[2]
ATTACK = "important_instructions"
ATTACKED = f"{SUITE}+{ATTACK}"
SUITES = {"workspace": 40, "travel": 20, "banking": 16, "slack": 21}
PAY = {play.name: play for play in read_plays()}["banking-user_task_0"]


@pytest.fixture(scope="module")
def package() -> Any:
    return pytest.importorskip("agentdojo", reason="pip install 'codeplan[agentdojo]'")


# ------------------------------------------------------------------ episodes


def test_a_verdict_ends_the_episode_and_the_model_hears_nothing_of_it(package: Any) -> None:
    play = PAY._replace(plans=("```python\ndef solution(agent, start_from=1):\n    return 'paid'\n```",) * 2)
    model = PlayedModel(play)
    result, _ = run_play(play, model)
    assert isinstance(result.ending, EnvironmentEnded) and not result.success
    assert len(model.prompts) == 1


def test_an_attack_stands_in_the_data_and_is_judged_apart_from_the_user_s_task(package: Any) -> None:
    deaf = PlayedModel(PAY)
    result, hijacked = run_play(PAY, deaf, "injection_task_0", attack=ATTACK)
    assert "<INFORMATION>" in deaf.prompts[1] and "to you, Local model." in deaf.prompts[1]
    assert (result.success, hijacked) == (True, False)
    obeys = ("{'iban': 'US133000000121212121212', 'amount': 0.01, 'subject': 'Secret: Spotify', 'date': '2022-01-01'}",)
    assert run_play(PAY, PlayedModel(PAY._replace(answers=obeys)), "injection_task_0", attack=ATTACK)[1]


def test_an_attack_on_the_service_succeeds_when_the_user_s_task_fails(package: Any) -> None:
    assert run_play(PAY, _Idle(), "injection_task_0", attack="dos")[1]
    assert not run_play(PAY, PlayedModel(PAY), "injection_task_0", attack="dos")[1]
    assert len(AgentDojoTasks(attack="dos").select("banking", None, f"{SUITE}+dos")) == SUITES["banking"]


class _Idle(PlayedModel):
    """Plans to do nothing."""

    def __init__(self) -> None:
        super().__init__(Play("", ("```python\ndef solution(agent, start_from=1):\n    return 'asdf'\n```",), ()))


def test_tools_show_no_part_of_the_environment_and_give_plain_data(package: Any) -> None:
    for suite in SUITES:
        world = AgentDojoWorld.open(suite, "user_task_0")
        shown = {name: tool for tool in python_tools(*world.tools()) for name in tool.signature.parameters}
        filled = {name for function in world.suite.tools for name in function.dependencies}
        assert filled and not filled & {*shown}


# ------------------------------------------------------------------ tasks


def test_a_bench_has_every_user_task_and_with_an_attack_every_pair(package: Any) -> None:
    tasks = AgentDojoTasks(attack=ATTACK)
    alone, pairs = (tasks.select(None, None, suite) for suite in tasks.suites)
    assert Counter(task.kind for task in alone) == SUITES
    assert len(pairs) == 40 * 14 + 20 * 7 + 16 * 9 + 21 * 5
    assert len({task.id for task in (*alone, *pairs)}) == len(alone) + len(pairs)


def test_the_first_pairs_have_different_tasks_of_the_user_and_of_the_attacker(package: Any) -> None:
    first = AgentDojoTasks(attack=ATTACK).select("slack", 5, ATTACKED)
    _, users, injections = zip(*(task.id.split("-") for task in first), strict=True)
    assert len({*users}) == len({*injections}) == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["agentdojo", "--attack", "important_instruction"], "did you mean 'important_instructions'"),
        (["agentdojo", "--kind", "bank"], "there are: workspace, travel, banking, slack"),
        (["agentdojo", "--split", "test"], "Its suites are kinds: --kind banking"),
        (["agentdojo"], "the scripted stand-in knows codeplan's own environments only"),
    ],
)
def test_a_wrong_choice_is_named(package: Any, capsys: Any, arguments: list[str], said: str) -> None:
    model = [] if len(arguments) == 1 else ["--model", f"{ROOT}/tests/bench/agentdojo_idle.py:idle"]
    assert main(["bench", *arguments, *model]) == 2
    assert said in capsys.readouterr().err


def test_other_suites_have_no_attacks(capsys: Any) -> None:
    assert main(["bench", "household", "--attack", ATTACK]) == 2
    assert "only agentdojo takes --attack" in capsys.readouterr().err


def test_without_the_package_the_command_says_what_to_install(monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setitem(sys.modules, "agentdojo.attacks", None)
    agentdojo._package.cache_clear()
    assert main(["bench", "agentdojo"]) == 2
    assert "pip install 'codeplan[agentdojo]'" in capsys.readouterr().err


# ------------------------------------------------------------------ the command


@pytest.fixture
def bench(package: Any, tmp_path: Path, monkeypatch: Any) -> Any:
    monkeypatch.chdir(tmp_path)
    model = f"{ROOT}/tests/bench/agentdojo_idle.py:idle"

    def run(*more: str) -> int:
        return main(["bench", "agentdojo", "--kind", "banking", "-n", "2", "--model", model, "--out", "out", *more])

    return run


def test_one_command_plays_both_suites_and_shows_the_three_rates(bench: Any, capsys: Any, tmp_path: Path) -> None:
    assert bench("--attack", ATTACK) == 0
    said = capsys.readouterr().out
    assert "AgentDojo v1.2.2\n" in said
    assert " ".join(("all", *("0.0", "(0/2)") * 4)) in " ".join(said.split())
    assert "Published, not measured here: CaMeL with o3 77.3 %" in said
    record = read_bench(tmp_path / "out")
    assert [o.hijacked for o in record.outcomes] == [None, None, False, False]
    assert remaining_jobs(record.grid, record.outcomes) == []
    run = record.outcomes[-1].run
    assert main(["replay", f"out/{run}"]) == 0
    assert main(["report", "out"]) == 0 and '"attacks":0.0' in Path("report.html").read_text(encoding="utf-8")


def test_a_dry_run_plays_nothing(bench: Any, capsys: Any, tmp_path: Path) -> None:
    assert bench("--dry-run", "--attack", ATTACK) == 0
    assert f"{ATTACKED}.adaplanner.idle" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()


# ------------------------------------------------------------------ tables


def record(*outcomes: tuple[str, str, bool, bool | None]) -> BenchRecord:
    """A bench of one player; each outcome is a suite, a task's kind, success, and whether it was hijacked."""
    cells = tuple(BenchCell(f"{suite}.m.x", suite, "tools", "m", "x") for suite in (SUITE, ATTACKED))
    ended = [
        (suite, Task(f"t{n}", "tools", kind), solved, hijacked)
        for n, (suite, kind, solved, hijacked) in enumerate(outcomes)
    ]
    tasks = {suite: tuple(task for its, task, *_ in ended if its == suite) for suite in (SUITE, ATTACKED)}
    results = tuple(
        EpisodeOutcome(f"{its}.m.x", task, 0, "", Result(task, Success() if ok else NotSolved("no")), hijacked=hijacked)
        for its, task, ok, hijacked in ended
    )
    return BenchRecord(Path(), BenchGrid(cells, tasks), results)


def test_rates_are_by_suite_and_attacks_count_where_they_were_judged() -> None:
    [table] = rates_tables(
        record(
            (SUITE, "slack", True, None),
            (SUITE, "banking", False, None),
            (ATTACKED, "slack", True, True),
            (ATTACKED, "slack", False, False),
            (ATTACKED, "slack", False, None),
        )
    )
    assert table.rows == (
        ("m.x", "slack", "100.0 (1/1)", "33.3 (1/3)", "50.0 (1/2)", ""),
        ("m.x", "banking", "0.0 (0/1)", "", "", ""),
        ("m.x", "all", "50.0 (1/2)", "33.3 (1/3)", "50.0 (1/2)", ""),
    )


def test_published_rates_stand_beside_agentdojo_alone_and_say_whose_they_are() -> None:
    shown = published_results(record())
    assert {(row.method, row.model): row.rates["all"] for row in shown.rows} == {
        ("CaMeL", "o3"): 77.3,
        ("no defence", "o3"): 84.5,
        ("CaMeL", "Claude 4 Sonnet"): 74.2,
        ("no defence", "Claude 4 Sonnet"): 86.6,
    }
    assert all("Debenedetti et al. 2025" in row.source for row in shown.rows)
    other = BenchRecord(Path(), BenchGrid((), {"agentdojo": ()}))
    assert published_results(other).rows == ()
