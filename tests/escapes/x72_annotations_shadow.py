# kind: names
# tries: annotations in a class bind names of the runtime
def solution(agent, start_from=1):
    class A:
        __del__: print('CANARY-ANN')
        _getattr_: int = print
