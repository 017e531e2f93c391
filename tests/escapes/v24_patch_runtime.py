# kind: forge
# tries: patch the runtime inside the worker: limits, clock, counters, what it sends
# layer: cage
def solution(agent, start_from=1):
    import gc, sys
    for name, module in list(sys.modules.items()):
        if name.startswith('codeplan.sandbox') and module:
            for attribute in list(vars(module)):
                if attribute in ('Limits', 'PlanTimer', 'HostClient', 'PlanExecution', 'shorten', 'encode'):
                    setattr(module, attribute, lambda *a, **k: None)
    gc.freeze(), sys.setrecursionlimit(10**6)
    while True: agent.goto('shelf 1')
