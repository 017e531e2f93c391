# id: k15_guard_closure
# kind: walk
# tries: guards are closures: __closure__ and cell_contents of getattr
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    for cell in getattr.__closure__:
        print('CANARY-WALK', cell.cell_contents)
