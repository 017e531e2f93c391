# kind: dunder
# tries: keys() and __getitem__ of an unpacked object give names that a call must not get
def solution(agent, start_from=1):
    class K:
        def keys(self): return ['file', 'end', '__class__', 5]
        def __getitem__(self, k): return agent
    for f in (print, agent.goto, ask, dict, sorted, getattr):
        try:
            f(**K())
        except Exception as e:
            print(type(e).__name__)
