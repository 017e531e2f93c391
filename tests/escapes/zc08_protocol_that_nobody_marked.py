# kind: names
# tries: decorators of typing and abc write to classes and functions of the library, so that others behave differently
# a correct runtime must: leave alone what is not the plan's
def solution(agent, start_from=1):
    import abc
    import collections.abc
    import json
    import string
    import typing

    class P(typing.Protocol):
        x: int

    class A:
        x = 1

    def checked():
        try:
            return isinstance(A(), P)
        except TypeError:
            return None

    before = checked()
    for mark in (typing.runtime_checkable, typing.final, abc.abstractmethod, typing.overload):
        for thing in (typing.Protocol, typing.SupportsInt, string.Template, json.dumps, collections.abc.Sized, agent):
            try:
                mark(thing)
            except (TypeError, AttributeError) as e:
                print(type(e).__name__, e)
    print('CAN' + 'ARY' if checked() != before else 'fine', before, checked())
