"""Processes that write to a library at once, and that are killed while they do; see test_library.py and benchmarks."""

import os
import random
import signal
import sys
import time

from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import EvidenceRecord
from codeplan.skills.skill_folder import DamagedSkill

ENV, NAME = "household", "heat-1"


def record(path, processes, each):
    """Record evidence from several processes at once."""
    children = []
    for number in range(processes):
        child = os.fork()
        if child == 0:
            library = SkillLibrary(path)
            skill = library.get(ENV, NAME)
            for i in range(each):
                library.record(skill, EvidenceRecord(str(i), number, "m", True, True))
            os._exit(0)
        children.append(child)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0


def write_for_ever(path, number):
    """Every sort of write, one after another."""
    library = SkillLibrary(path)
    skill = library.get(ENV, NAME)
    for i in range(10_000):
        skill = library.change(skill, plan=f"# {number}.{i}\n" * 2_000)
        library.record(skill, EvidenceRecord(f"{number}", i, "m", True, True, skill.version))
        library.change(skill, status="active", description=f"{number}.{i} " * 200)
        library.add(type(skill)(f"new-{number}-{i}", ENV, f"# {number}\n" * 2_000))


def crash(path, rounds):
    """Kill a writer at a random moment, and see that all is there: what was acknowledged, and a whole plan."""
    dice = random.Random(7)
    version = trials = killed = 0
    for number in range(rounds):
        child = os.fork()
        if child == 0:
            write_for_ever(path, number)
        time.sleep(dice.uniform(0.004, 0.03))
        os.kill(child, signal.SIGKILL)
        killed += os.waitpid(child, 0)[1] == signal.SIGKILL
        library = SkillLibrary(path)
        whole(library)
        skill = library.get(ENV, NAME)
        count = len(library.read_evidence(skill))
        assert skill.version >= version and count >= trials, (skill.version, version, count, trials)
        assert len(set(skill.plan.split("\n"))) <= 2 or skill.version == 1, "a plan is of one write"
        version, trials = skill.version, count
        if number % 50 == 49:
            library.rebuild()
        library.close()
    print(f"{killed} killed, version {version}, {trials} trials")


def whole(library):
    """Nothing is damaged but for a torn line of evidence."""
    faults = [f for f in library.faults() if "no trial" not in f]
    assert not faults, faults
    for entry in library.entries():
        try:
            library.get(entry.env, entry.name)
        except DamagedSkill as e:
            raise AssertionError(str(e)) from None


if __name__ == "__main__":
    {"record": record, "crash": crash}[sys.argv[1]](sys.argv[2], *map(int, sys.argv[3:]))
