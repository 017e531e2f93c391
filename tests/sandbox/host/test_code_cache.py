"""A plan that was checked is not compiled again; its code is bytes to the host, and nothing to trust to the cage."""

from __future__ import annotations

import pickle

from support.caged import SampleHome, answer, finished, plan

from codeplan.sandbox import Limits
from codeplan.sandbox.host.backend import RunRequest
from codeplan.sandbox.host.locked_backend import LockedBackend
from codeplan.sandbox.host.plan_texts import MAX_PLANS, CodeCache
from codeplan.sandbox.language.compilation import Program, Segment, compile_plan
from codeplan.sandbox.protocol.limits import MAX_CODE_BYTES
from codeplan.types import Failed, Plan, Stopped

SOURCE = plan(
    """
    if start_from <= 1:
        print('[Step 1] count')
        seen = [i * 2 for i in range(3)]
        assert seen, 'Error in [Step 1]'
    if start_from <= 2:
        print(f'[Step 2] {seen}')
        assert len(seen) == 4, f'Error in [Step 2]: {seen}'
    """
)


def run(backend: LockedBackend, source: str | Plan) -> object:
    return backend.run(RunRequest(source, SampleHome(lambda action: None), answer))


def test_a_plan_ends_the_same_with_and_without_cached_code():
    backend = LockedBackend()
    checked = backend.texts.check(SOURCE, SampleHome)
    assert isinstance(checked, Plan)
    assert backend.texts.codes.get(checked.source)

    ended = [run(backend, checked), run(LockedBackend(), checked), run(LockedBackend(), SOURCE)]

    for outcome in ended:
        assert isinstance(outcome, Failed)
        assert (outcome.step, outcome.line, outcome.message) == (2, 8, "Error in [Step 2]: [0, 2, 4]")
        assert outcome.output == "[Step 1] count\n[Step 2] [0, 2, 4]\n"


def test_a_program_survives_packing():
    program = compile_plan(SOURCE)

    assert Program.unpack(program.pack()) == program


def test_forged_code_ends_its_own_run_and_no_other():
    backend = LockedBackend()
    for junk in (b"junk", b"\xe9", Program((Segment(None, 1, compile("1", "x", "eval")),)).pack()):
        backend.texts.codes.store(SOURCE, junk)
        assert isinstance(run(backend, SOURCE), Stopped | Failed)
    assert finished(run(backend, plan("print(1)"))).output == "1\n"


def test_the_cage_holds_forged_code_without_guards():
    evil = compile("def _segment_():\n    open('/etc/passwd').read()\n", "x", "exec")
    reach = compile(
        "def _segment_():\n    b = print.__globals__['__builtins__']\n    b['open']('/etc/passwd').read()\n",
        "x",
        "exec",
    )
    backend = LockedBackend()
    for code in (evil, reach):
        backend.texts.codes.store(SOURCE, Program((Segment(None, 1, code),)).pack())
        outcome = run(backend, SOURCE)
        assert isinstance(outcome, Failed)
        assert outcome.error in ("NameError", "PermissionError")


def test_the_least_recently_used_code_is_dropped_first():
    codes = CodeCache()
    for i in range(MAX_PLANS):
        codes.store(f"plan {i}", b"code")
    assert codes.get("plan 0") == b"code"
    codes.store("one more", b"code")
    codes.store("a long one", b"x" * (MAX_CODE_BYTES + 1))

    assert [codes.get(name) for name in ("plan 0", "plan 1", "one more", "a long one")] == [b"code", b"", b"code", b""]


def test_a_pickled_backend_carries_no_code():
    backend = LockedBackend(Limits(wall=3.0))
    checked = backend.texts.check(SOURCE, SampleHome)
    assert isinstance(checked, Plan)

    other = pickle.loads(pickle.dumps(backend))

    assert other.limits == backend.limits
    assert other.texts.codes.get(checked.source) == b""
    assert isinstance(run(other, checked), Failed)
