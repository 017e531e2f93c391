"""smolagents' own tests of its interpreter, run with the cage in its place: all pass but those that do not apply."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from support.corpora import Unreachable, fetch_package

from codeplan.sandbox.runtime.module_names import split_names

pytestmark = pytest.mark.long

TESTS = Path(__file__).parents[1]

INAPPLICABLE = {
    "the value of a compound statement is not given": "evaluate_if evaluate_for boolops string_indexing tuple_target_in_iterator",
    "a value outside the cage is data: no class, function, generator or object": (
        "evaluate_class_def evaluate_class_def_with_ann_assign_name evaluate_class_def_with_ann_assign_attribute "
        "evaluate_class_def_with_ann_assign_subscript evaluate_class_def_with_assign_attribute_target "
        "evaluate_class_def_with_enum access_attributes generatorexp generatorexp_with_infinite_sequence "
        "nonsimple_augassign types_as_objects function_def_recovers_source_code non_standard_comparisons"
    ),
    "operations are not counted; time and memory are": "max_operations operations_count",
    "the words of an error are Python's or codeplan's": (
        "adding_int_to_list_raises_error assignment_cannot_overwrite_tool close_matches_subscript syntax_error_points_error "
        "error_highlights_correct_line_of_code evaluate_call_starred_kwargs_errors evaluate_delete "
        "evaluate_condition_with_pandas_exceptions vulnerability_via_sys_for_all_dangerous_modules"
    ),
    "the limit of time is an InterpreterError, too": (
        "custom_timeout_value evaluate_python_code_with_timeout_raises local_executor_custom_timeout timeout_works_in_thread"
    ),
    "it tests what CPython does not do": "exceptions tuple_id variable_args state_name",
    "it names modules that no user can give the cage, or all of them": (
        "additional_authorized_imports_are_installed additional_imports can_import_os_if_all_imports_authorized "
        "can_import_os_if_explicitly_authorized dangerous_builtins_are_callable_if_explicitly_added "
        "vulnerability_builtins vulnerability_builtins_dangerous_functions vulnerability_builtins_safe_functions "
        "vulnerability_builtins_via_class_catch_warnings vulnerability_builtins_via_sys "
        "vulnerability_builtins_via_traceback vulnerability_dangerous_functions "
        "vulnerability_for_all_dangerous_functions vulnerability_via_dunder_call vulnerability_via_importlib "
        "vulnerability_via_submodules vulnerability_via_sys imports"
    ),
    "pandas and sklearn do not load in the cage as it is": "dictcomp pandas can_import_sklearn_if_explicitly_authorized",
    "an unused import is left out, and harmless attributes may be read": (
        "dangerous_builtins_calls_are_blocked vulnerability_import vulnerability_via_dunder_access vulnerability_via_dunder_indirect_access"
    ),
}
"""The reasons why tests do not apply, with the names of these tests."""


def test_all_tests_of_smolagents_interpreter_pass_but_those_that_do_not_apply(tmp_path, tmp_path_factory):
    pytest.importorskip("smolagents", reason="the extra smolagents is not installed")
    pytest.importorskip("pandas", reason="the extra frames is not installed")
    try:
        archive = fetch_package("smolagents==1.26.0", tmp_path_factory.getbasetemp().parent, source=True)
    except Unreachable as reason:
        pytest.skip(str(reason))
    with tarfile.open(archive) as files:
        member = next(m for m in files.getmembers() if m.name.endswith("tests/test_local_python_executor.py"))
        (tmp_path / "test_theirs.py").write_bytes(files.extractfile(member).read())
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "support.smolagents_cases", "-c", os.devnull, "--rootdir", ".", "test_theirs.py"]  # fmt: skip
    ended = subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(TESTS)}, capture_output=True, text=True, check=False)  # fmt: skip
    failed = set(re.findall(r"^FAILED .*::test_(\w+)", ended.stdout, re.MULTILINE))
    passed = len(re.findall(r"^PASSED ", ended.stdout, re.MULTILINE))
    inapplicable = {name for names in INAPPLICABLE.values() for name in split_names(names)}
    assert failed == inapplicable, ended.stdout[-3000:]
    assert passed >= 300
