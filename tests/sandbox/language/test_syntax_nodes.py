"""The fast traversals of a syntax tree find what the standard library's find."""

from __future__ import annotations

import ast

from support.sample_plans import sample_plans

from codeplan.sandbox.language.parsing import children, fill_locations, walk

CONTEXTS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.alias)


def test_walk_finds_each_code_node_once():
    for tree in (ast.parse(sample.source) for sample in sample_plans()):
        expected = [n for n in ast.walk(tree) if not isinstance(n, CONTEXTS)]

        assert sorted(map(id, walk(tree))) == sorted(map(id, expected))
        for node in expected:
            assert children(node) == [n for n in ast.iter_child_nodes(node) if not isinstance(n, CONTEXTS)]


def test_a_new_node_gets_its_parents_location():
    call = ast.parse("\n\n(old(1 + 2))").body[0]
    for node in list(ast.walk(call))[1:]:
        for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            if hasattr(node, name):
                delattr(node, name)

    fill_locations(call)

    compile(ast.Module([call], []), "plan", "exec")
    assert {n.lineno for n in walk(call)} == {3}  # type: ignore[attr-defined]  # every one has a place now
