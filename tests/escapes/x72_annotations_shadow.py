# id: x72_annotations_shadow
# kind: names
# tries: annotations in a class bind names of the runtime
# a correct runtime must: reject at check time, or raise inside the plan, or stop it; nothing of the host may become visible or change
def solution(agent, start_from=1):
    class A:
        __del__: print('CANARY-ANN')
        _getattr_: int = print
