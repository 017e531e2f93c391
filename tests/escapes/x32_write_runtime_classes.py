# kind: names
# tries: attributes of classes that all plans share are written
def solution(agent, start_from=1):
    from types import SimpleNamespace
    from enum import Enum, Flag
    from contextlib import ExitStack, ContextDecorator
    from abc import ABC
    from typing import Generic, Protocol
    for kind in (SimpleNamespace, Enum, Flag, ExitStack, ContextDecorator, ABC, Generic, Protocol, dict, Exception, property, int):
        for work in (lambda: setattr(kind, 'x', 1), lambda: setattr(kind, '__repr__', lambda s: 'CANARY'), lambda: delattr(kind, '__init__'), lambda: type(kind).__setattr__(kind, 'x', 1)):
            try:
                work()
                print('CANARY-WRITE', kind.__name__)
            except Exception as e:
                print(type(e).__name__)
