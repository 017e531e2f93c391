# kind: print
# tries: modules, specs, loaders and functions name the files they came from
# a correct runtime must: show no path of the host
# layer: cage
def solution(agent, start_from=1):
    import sys
    for name, module in list(sys.modules.items()):
        spec = getattr(module, '__spec__', None)
        shown = [getattr(module, '__file__', None), getattr(module, '__cached__', None), getattr(spec, 'origin', None)]
        shown += [getattr(getattr(spec, 'loader', None), 'path', None), *getattr(module, '__path__', ())]
        for value in list(vars(module).values()):
            if type(value) is type(solution): shown.append(value.__code__.co_filename)
        if any('/' in text for text in shown if type(text) is str): print('CANARY-MODULE', name, shown)
