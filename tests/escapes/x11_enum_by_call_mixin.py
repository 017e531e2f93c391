# kind: dunder
# tries: an Enum made by a call mixes in a class from which plans may not derive
def solution(agent, start_from=1):
    from enum import Enum
    from contextlib import ExitStack
    E = Enum('E', 'A', type=ExitStack)
    print('CANARY-BASE', E)
