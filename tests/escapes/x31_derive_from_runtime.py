# kind: dunder
# tries: a class derives from classes of the runtime that modules show
def solution(agent, start_from=1):
    from contextlib import ExitStack, suppress, nullcontext, closing
    from dataclasses import InitVar, KW_ONLY
    from types import MappingProxyType, MethodType, NoneType
    for base in (ExitStack, suppress, nullcontext, closing, InitVar, MappingProxyType, MethodType, NoneType, property, staticmethod, super, range, bool, slice, type(agent.goto) if False else memory if False else slice):
        try:
            class A(base): pass
            print('CANARY-BASE', A)
        except TypeError as e:
            print(e)
