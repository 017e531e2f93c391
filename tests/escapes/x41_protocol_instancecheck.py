# kind: getattr
# tries: isinstance with a protocol reads any attribute of any object
def solution(agent, start_from=1):
    from typing import Protocol, runtime_checkable
    @runtime_checkable
    class P(Protocol):
        _secret: str
        host_secret: str
        gi_frame: int
    def g(): yield
    for value in (agent, g(), print, agent.goto):
        try:
            print('CANARY-PROTOCOL' if isinstance(value, P) else 'no')
        except Exception as e:
            print(type(e).__name__)
