# kind: walk
# tries: UserDict and UserList, whose methods write to whatever their `data` is, over values that a plan may not write; and outputs redirected to the runtime's values
# a correct runtime must: raise inside the plan, or change nothing that another plan or the host sees
import contextlib, json, sys
from collections import UserDict, UserList
class Door(UserDict):
    pass
def solution(agent, start_from=1):
    for name, data in (('module', json), ('agent', agent), ('type', dict), ('class', UserDict), ('stdout', sys.stdout), ('vars', vars(UserDict)), ('locals', locals())):
        d, l = Door(), UserList()
        d.data = l.data = data
        for work in (lambda: d.__setitem__('x', 1), lambda: d.update(members=1), lambda: d.pop('members'), lambda: d['members'], lambda: l.append(1), lambda: l.clear(), lambda: UserDict.copy(d), lambda: UserDict.__copy__(d), lambda: d | {}):
            try:
                found = work()
                print(name, 'CANARY' if callable(found) else type(found).__name__)
            except Exception as e:
                print(name, type(e).__name__)
        try:
            with contextlib.redirect_stdout(data):
                print('redirected')
        except Exception as e:
            print(name, type(e).__name__)
    with contextlib.redirect_stdout(sys.stderr), contextlib.redirect_stderr(sys.stdout):
        print('round and round')
