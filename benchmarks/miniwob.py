"""Measures MiniWoB++: start, episodes per second, memory of 16 pages, replay, and leftover processes.

python benchmarks/miniwob.py [EPISODES]
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from codeplan.envs.miniwob import browser
from codeplan.envs.miniwob.environment import MiniWob
from codeplan.envs.miniwob.page import SharedBrowser, close_all_browsers
from codeplan.envs.miniwob.tasks import PageFolder
from codeplan.types import Observation

EPISODES = 1000
PAGES = 16
WANTED = {"episodes a second": 50, "MB": 700}


def main(episodes: int) -> None:
    """Print all figures; ``episodes`` is the number of episodes of the speed test."""
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; {browser.find_browser()}")
    started = time.perf_counter()
    env = MiniWob()
    env.reset(env.task("click-button", 0))
    print(f"first page, browser and all: {time.perf_counter() - started:.2f} s")
    remember_browser()
    speed(env, episodes)
    repeat(env)
    env.close()
    memory()
    close_all_browsers()
    time.sleep(0.5)
    print(f"processes of the browser that remain: {len(processes())}")


def speed(env: MiniWob, episodes: int) -> None:
    """Time click-button: reset, one click, the reward; and the processor time of both sides."""
    before, here, started = browser_seconds(), time.process_time(), time.perf_counter()
    won = sum(click_button(env, seed) for seed in range(episodes))
    wall = time.perf_counter() - started
    cost = (browser_seconds() - before + time.process_time() - here) / episodes
    print(
        f"click-button: {episodes / wall:.0f} episodes a second (wanted: {WANTED['episodes a second']}); "
        f"{won} of {episodes} won; {cost * 1000:.1f} ms of processor time each, "
        f"{(time.process_time() - here) / episodes * 1000:.1f} of them in Python"
    )


def click_button(env: MiniWob, seed: int) -> bool:
    """Run one episode of click-button. Returns whether it succeeded."""
    first = env.reset(env.task("click-button", seed))
    name = first.text.split('"')[1]
    return env.step(f'click_xpath (//button[text()="{name}"])[1]').success


def repeat(env: MiniWob) -> None:
    """Run episodes of all of the paper's pages twice and count differences."""
    differing = sum(once(env, i) != once(env, i) for i in range(200))
    print(f"200 episodes done again: {differing} differ in a state or a reward")


def once(env: MiniWob, i: int) -> list[Observation]:
    """An episode's first observation and its answers to four actions."""
    kind, seed = env.kinds[i % 53], i // 53
    actions = ("click_xpath //input", "type abc", "click_xpath (//*[@id='area']//*)[3]", "click_xpath //button")
    return [env.reset(env.task(kind, seed)), *map(env.step, actions)]


def memory() -> None:
    """Print the memory of 16 open pages."""
    environments = [MiniWob() for _ in range(PAGES)]
    for i, env in enumerate(environments):
        env.reset(env.task(env.kinds[i * 3], i))
    print(f"{PAGES} pages at once: {sum(map(megabytes, processes())):.0f} MB (wanted: under {WANTED['MB']})")
    for env in environments:
        env.close()


# ------------------------------------------------------------------ the browser's processes

_leader = 0


def remember_browser() -> None:
    """Remember the process group of the browser."""
    global _leader
    shared, page = SharedBrowser.open_page(browser.find_browser(), PageFolder().folder)
    _leader = shared.process.pid
    shared.return_page(page)


def processes() -> list[int]:
    """The running processes in the browser's session."""
    return [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit() and _is_member(p)]


def _is_member(process: Path) -> bool:
    try:
        state, *numbers = (process / "stat").read_text().rpartition(")")[2].split()
    except (OSError, ValueError):
        return False
    return state != "Z" and int(numbers[2]) == _leader


def browser_seconds() -> float:
    """Processor seconds of the browser's processes so far."""
    return sum(map(_seconds, processes()))


def _seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def megabytes(process: int) -> float:
    """Proportional set size: shared memory is divided among the processes."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return int(text.split("Pss:")[1].split()[0]) / 1024


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else EPISODES)
