# kind: walk
# tries: reach code, frames and foreign functions with inspect, by signatures, members and wrappers
# a correct runtime must: tell names, kinds and defaults of the plan's own functions
import functools, inspect
def solution(agent, start_from=1):
    def own(a, b=1):
        pass
    for name in ('currentframe', 'stack', 'getsource', 'getframeinfo', 'getclosurevars', 'getmodule', 'trace', 'unwrap', 'getattr_static', 'sys', 'os'):
        try:
            print('CAN' + 'ARY', getattr(inspect, name))
        except AttributeError:
            pass
    signature = inspect.signature(own)
    for owner in (signature, signature.parameters['b'], signature.bind(1), inspect.Parameter, inspect.signature, inspect.Parameter.empty):
        for name in ('_parameter_cls', '_bound_arguments_cls', 'from_callable', 'replace', 'signature', '__globals__', '__reduce__', '__setstate__', '__subclasses__', '__code__'):
            try:
                print('CAN' + 'ARY', getattr(owner, name))
            except AttributeError:
                pass
    own.__wrapped__ = agent.goto
    for odd in (own, print, agent.goto, inspect.signature, functools.partial(own), type, Exception):
        try:
            print('CAN' + 'ARY', inspect.signature(odd))
        except TypeError:
            pass
    for owner in (agent, print, own, type):
        if any('globals' in name or 'code' in name for name, _ in inspect.getmembers(owner)):
            print('CAN' + 'ARY members')
