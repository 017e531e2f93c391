"""A plan, and what becomes of it with a reply of steps."""

import ast
import textwrap

from codeplan.sandbox.analysis.reply_merging import merge_reply

PLAN = '''\
# A plan
def solution(agent, start_from=1):
    # where to look
    places = ['desk 1']
    limit = 3

    def visit(place):
        """Go there."""
        return agent.goto(place)

    # first
    if start_from <= 1:
        print('[Step 1] look')
        found = [p for p in places if visit(p)]  # all of them
        assert found

    # second
    if start_from <= 2:
        print('[Step 2] take')
        assert agent.take('mug 1', found[0])
    if start_from <= 3:
        assert agent.put('mug 1', 'desk 1')
'''
STEP_2 = "if start_from <= 2:\n    assert agent.take('mug 2', found[0])\n"


def merged(reply, plan=PLAN):
    """Return the merged plan and the numbers of the reply's steps."""
    found = merge_reply(reply, {"before": plan})
    assert found is not None, "the reply was taken for a whole plan"
    return found["source"], found["steps"]


def is_whole(reply, plan=PLAN):
    return merge_reply(reply, {"before": plan}) is None


def with_body(*lines, steps=("x = 1",)):
    """Return a plan with these lines before its steps."""
    blocks = [f"if start_from <= {k}:\n    {code}" for k, code in enumerate(steps, 1)]
    body = textwrap.indent("\n".join([*lines, *blocks]), "    ")
    return f"def solution(agent, start_from=1):\n{body}\n"


def same(one, other):
    return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
