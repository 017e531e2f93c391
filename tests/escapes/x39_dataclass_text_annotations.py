# kind: exec
# tries: a dataclass evaluates annotations that are texts, in the module that its class names
def solution(agent, start_from=1):
    from dataclasses import dataclass
    from typing import ClassVar
    @dataclass
    class A:
        a: "print('CANARY-EXEC')" = 1
        b: "__import__('os').system('touch @MARKER@')" = 2
        c: "typing.ClassVar[open('@SECRET@').read()]" = 3
        d: "sys.modules" = 4
    print(A())
