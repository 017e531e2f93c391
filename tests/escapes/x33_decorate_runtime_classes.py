# kind: names
# tries: functions that change a class are given classes of the runtime
def solution(agent, start_from=1):
    from dataclasses import dataclass
    from enum import unique, Enum
    from types import SimpleNamespace
    for work in (lambda: dataclass(SimpleNamespace), lambda: dataclass(Enum), lambda: dataclass(dict), lambda: dataclass(Exception), lambda: dataclass(agent), lambda: dataclass(order=True)(int), lambda: dataclass(print)):
        try:
            work()
            print('CANARY-WRITE')
        except Exception as e:
            print(type(e).__name__)
    print(SimpleNamespace(a=1), isinstance({}, dict))
