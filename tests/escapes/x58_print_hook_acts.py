# kind: print
# tries: __str__ acts, prints and fails while print collects its values
def solution(agent, start_from=1):
    class P:
        def __str__(self):
            print('inner', end=' ')
            agent.goto('shelf 1')
            return 'outer'
    class Q:
        def __str__(self): return 7
    try:
        print(P(), P(), sep=P() if False else '-')
        print(Q())
    except Exception as e:
        print(type(e).__name__)
    print(*[P()] * 2000)
