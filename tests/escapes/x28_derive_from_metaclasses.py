# kind: dunder
# tries: a class derives from type, ABCMeta and EnumMeta
def solution(agent, start_from=1):
    from abc import ABCMeta
    from enum import EnumMeta, EnumType
    for base in (type, ABCMeta, EnumMeta, EnumType, type(type)):
        try:
            class M(base):
                def __call__(cls, *a): return 1
            print('CANARY-META', M)
        except TypeError as e:
            print(e)
