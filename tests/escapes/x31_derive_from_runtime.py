# id: x31_derive_from_runtime
# kind: dunder
# tries: a class derives from classes of the runtime that modules show
# a correct runtime must: reject at check time, or raise inside the plan, or stop it; nothing of the host may become visible or change
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
