# id: l34_vars_dir
# kind: builtins
# tries: vars, dir, locals and globals under another name
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    for f in (vars, dir, locals, globals):
        print('CANARY-WALK', f())
    print(vars(agent), dir(agent))
