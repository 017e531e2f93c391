"""The commands of pages that assume something (data, an endpoint, a run of the reader's) run as printed.

Servers are asked once and then interrupted; so are commands that take minutes, once they are at work.
"""

from __future__ import annotations

import json
import shutil
import urllib.request
from pathlib import Path

import pytest
from support.alfworld_files import write
from support.endpoint import serve
from support.loopback_port import port_8000
from support.miniwob_pages import needs_browser
from support.page_reader import ROOT, Read
from support.reply_server import Endpoint, endpoint, reply
from support.scienceworld_engine import needs_engine
from support.served import Serve
from support.shown_commands import code_blocks, named_files

from codeplan.envs.hotpotqa.wikipedia import WIKIPEDIA_API_URL, PageRevision, WikiCache

pytestmark = pytest.mark.long

__all__ = ["endpoint", "port_8000", "serve"]


def test_alfworld(read: Read, tmp_path: Path) -> None:
    data = tmp_path / "data"
    page = read("docs/envs/alfworld.md", ALFWORLD_DATA=str(data))
    trial = Path(page.left[-1][-1])
    (data / "valid_unseen" / trial.parent).mkdir(parents=True)
    shutil.move(data / "made" / write(data / "made", "pick", 1), data / "valid_unseen" / trial)
    write(data / "valid_seen", "heat", 2)
    listed = page.play("envs alfworld")
    assert "valid_unseen  1 of the 134 games" in listed
    assert "valid_seen  1 of the 140 games" in listed
    assert "100%" in page.play("bench alfworld-unseen")
    assert "100%" in page.play("bench alfworld-seen")
    page.play("run alfworld")
    assert not page.left


def test_hotpotqa_with_live_wikipedia(read: Read, endpoint: Endpoint, tmp_path: Path) -> None:
    """The pages come from the cache, where they are as if they had been read before."""
    page = read("docs/envs/hotpotqa.md", OPENAI_BASE_URL=endpoint.url)
    question = {"_id": "ada", "question": "What was Ada?", "answer": "a mathematician", "type": "bridge"}
    more = {"level": "easy", "supporting_facts": [["Ada", 0]], "context": [["Ada", ["Ada is not this."]]]}
    (tmp_path / "hotpot_dev_distractor_v1.json").write_text(json.dumps([question | more]))
    cache = tmp_path / ".reader" / "codeplan" / "wikipedia.sqlite3"
    cached = WikiCache(cache, WIKIPEDIA_API_URL, "2017-10-01")
    cached.save_search("Ada", PageRevision("Ada", 7))
    cached.save_page(PageRevision("Ada", 7), "Ada was a mathematician.")
    cached.close()
    endpoint.answer(
        reply("""```python
def solution(agent, start_from=1):
    if start_from <= 1:
        seen = agent.search('Ada')
        assert 'mathematician' in seen, f'Error in [Step 1]: {seen}'
    if start_from <= 2:
        assert agent.finish('a mathematician'), 'Error in [Step 2]'
```""")
    )
    page.play("run hotpotqa")
    assert "Ada was a mathematician." in page.play("run hotpotqa --model")
    assert not page.left


def test_benches(read: Read, serve: Serve, tmp_path: Path) -> None:
    data = tmp_path / "data"
    write(data / "valid_unseen", "pick", 1)
    page = read("docs/bench.md", OPENAI_BASE_URL=serve().url, ALFWORLD_DATA=str(data))
    page.play("bench household -n 5 -j 4 --out adaplanner")
    page.play("bench household -n 5 -j 4 --out react")
    page.play("compare adaplanner")
    assert "tabular" in page.play("compare adaplanner react --format latex")
    assert "100%" in page.play("bench alfworld-unseen")
    shutil.copytree(ROOT / "benchmarks" / "tool_tasks", tmp_path / "benchmarks" / "tool_tasks")
    page.play("trust benchmarks/tool_tasks/tasks.toml")
    page.skip("bench benchmarks/tool_tasks/tasks.toml")  # needs five servers: test_bench_page.py
    for out in ("--attack", "--kind"):
        page.skip(f"bench agentdojo --model gpt-4o-mini {out}")  # needs the package: tests/bench/test_agentdojo.py
    page.play("bench household -n 2 --cache replies --out first")
    page.play("bench household -n 2 --cache replies --out second")
    for engine in ("ray", "dask"):
        page.skip(f"bench grid.toml --engine {engine}")  # needs a cluster: test_bench_page.py
    assert "30 rows" in page.play("export adaplanner -o episodes.csv")
    page.play("export adaplanner -o calls.jsonl --rows calls")
    assert "30 examples" in page.play("export adaplanner -o chats.jsonl --for sft")
    page.play("export adaplanner -o pairs.jsonl --for preferences")
    assert "30 tasks" in page.play("export adaplanner -o house-plans --for verifiers")
    page.play("papers")
    page.interrupt("bench paper:adapt-table2", lambda: page.has("table2/runs/*/*/trace.jsonl"))
    page.play("papers adapt-table2 --bench table2")
    assert not page.left


@needs_browser
def test_miniwob(read: Read) -> None:
    page = read("docs/envs/miniwob.md")
    page.play("run miniwob")
    for suite in ("miniwob-53", "miniwob-feedback"):
        page.interrupt(f"bench {suite}", lambda suite=suite: page.has(f"runs/*{suite}*/runs/*/*/trace.jsonl"))
    assert not page.left


@needs_engine
def test_scienceworld(read: Read) -> None:
    page = read("docs/envs/scienceworld.md")
    assert "Success" in page.play("run scienceworld --task")
    page.play_all()


def test_methods(read: Read, tmp_path: Path) -> None:
    page = read("docs/methods.md")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    page.play("run household")
    page.interrupt("bench examples/methods.toml", lambda: page.has("runs/*/runs/*/*/trace.jsonl"))
    assert "Success" in page.play("run household --method best-of-n")
    assert "Success" in page.play("run textcraft --method tree")
    assert not page.left


def test_models(read: Read, serve: Serve, port_8000: int, tmp_path: Path) -> None:
    local = serve(port=port_8000)
    page = read("docs/models.md", OPENAI_BASE_URL=serve().url)
    (tmp_path / "grid.toml").write_text('suites = ["household"]\nmodels = ["gpt-4.1"]\n')
    settings = next(text for heading, text in code_blocks((ROOT / "docs/models.md").read_text()) if heading == "toml")
    for model in ("gpt-4.1", "qwen3", "gpt-5", "gpt-4.1", "gpt-4.1"):
        page.play(f"run household --model {model}")
    assert {entry["model"] for entry in local.log} == {"qwen3"}
    for model in ("anthropic", "google"):
        assert "no key for the model" in page.play(f"run household --model {model}:", code=2)
    page.play("doctor --online")
    (tmp_path / "codeplan.toml").write_text(settings)
    assert "gpt-4.1-mini" in page.play("trust")
    page.play("trust grid.toml")
    assert "grid.toml" in page.play("trust --list")
    (tmp_path / "FOLDER").mkdir()
    (tmp_path / "FOLDER" / "codeplan.toml").write_text(settings)
    page.type("trust", "FOLDER/codeplan.toml")
    page.play("trust --forget FOLDER")
    assert "FOLDER" not in page.type("trust", "--list")
    assert "no key for the model" in page.play("run household --model anthropic:", code=2)
    with page.served("serve-scripted") as url, urllib.request.urlopen(f"{url}/models") as answer:
        assert json.load(answer)["data"]
    assert page.has("requests.jsonl")
    assert not page.left


def test_reports(read: Read) -> None:
    page = read("docs/report.md")
    page.type("bench", "household", "--kind", "clean", "-n", "1", "--out", "runs/other")
    page.interrupt("bench household", lambda: page.has("runs/mine/runs/*/*/trace.jsonl"))
    page.play("report runs/mine -o page.html")
    assert "<html" in (page.folder / "page.html").read_text(encoding="utf-8")
    page.play("report runs/mine runs/other")
    with page.served("view") as url, urllib.request.urlopen(url) as answer:
        assert b"<html" in answer.read()
    assert not page.left


def test_the_sandbox_audit(read: Read, tmp_path: Path) -> None:
    """With one of the hostile plans, in the folder where the audit looks for them."""
    (tmp_path / "tests" / "escapes").mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "escapes" / "a01_subclasses.py", tmp_path / "tests" / "escapes")
    page = read("docs/sandbox.md")
    assert "0 of 1 hostile plans got through" in page.play("sandbox audit")
    assert "0 of 1 hostile plans got through" in page.play("sandbox audit --unrestricted")
    assert not page.left


def test_skills(read: Read) -> None:
    page = read("docs/skills.md")
    text = (ROOT / "docs/skills.md").read_text()
    for name, content in named_files(text).items():
        (page.folder / name).write_text(content)
    assert "knows 1 further phrase" in page.play("do Order apples")
    assert "the_number" in page.play("skills show")
    page.play("skills promote")
    again = page.play("do Please buy pears")
    assert "Model calls  0" in again and "0 in + 0 out" in again
    assert "the_item='plums'" in page.play("skills match")
    page.play("skills match", code=1)
    page.play("skills run")
    assert (page.folder / "orders.txt").read_text() == "7 apples\n13 pears\n5 plums\n"
    assert "its test passes" in page.play("skills test")
    assert "Claimed" in page.play("skills test")
    assert "no candidates were tried" in page.play("skills filter tools")
    page.interrupt("skills discover", lambda: page.has("skills/household/*/SKILL.md"))
    found = next((page.folder / "skills" / "household").glob("*/SKILL.md")).parent.name
    page.type("skills", "promote", found)
    assert found in page.play("skills list")
    for _ in range(3):
        page.play("run household --kind clean --seed 3 --library skills")
    run = page.left[0][-1]
    page.type("run", "household", "--kind", "clean", "--seed", "3", "--out", run)
    page.play("skills add")
    assert not page.left


def test_traces(read: Read) -> None:
    page = read("docs/traces.md")
    page.type("run", "household", "--task", "clean/22", "--mistakes", "none", "--out", "good")
    page.type("new-test", "good", "-o", ".")
    (page.folder / "clean_22.plan.py").rename(page.folder / "better.py")
    page.play("run household")
    assert "33" in page.play("show RUN")
    page.play("resume RUN")
    assert "identical" in page.play("replay RUN")
    for number in (33, 19):
        assert "Success" in page.play(f"fork RUN --at {number}")
    assert not page.left
