# id: s23_ckpt_odd_containers
# kind: ckpt
# tries: defaultdicts of defaultdicts, of agents and of functions; deques with odd lengths; dicts that hold their own views
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    if start_from <= 1:
        a = defaultdict(lambda: agent); b = defaultdict(Counter); c = defaultdict(None); d = defaultdict(agent.report); e = defaultdict(int)
        e[e['x']] = e; q = deque([], 0); r = deque([q], 10 ** 18); s = deque([1, 2], maxlen=1)
        v = {}; v['v'] = v.values(); o = OrderedDict([(1, 1), (True, 2)]); n = {float('nan'): 1, float('nan'): 2}
        z = {0.0: 1, -0.0: 2}; t = ((), ((),), frozenset([()])); big = -(1 << 99999); sur = '\ud800\udc00'
        assert False
        assert True

