# id: x39_dataclass_text_annotations
# kind: exec
# tries: a dataclass evaluates annotations that are texts, in the module that its class names
# a correct runtime must: reject at check time, or raise inside the plan, or stop it; nothing of the host may become visible or change
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
