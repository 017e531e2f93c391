# kind: names
# tries: decorators that mark what they are given mark functions of the runtime
def solution(agent, start_from=1):
    from abc import abstractmethod
    from typing import final, override, runtime_checkable, overload
    for mark in (abstractmethod, final, runtime_checkable, overload):
        for value in (print, agent, agent.goto, getattr, int, ask):
            try:
                mark(value)
                print('marked')
            except Exception as e:
                print(type(e).__name__)
    print(agent.goto('shelf 1'), ask('ready?'))
