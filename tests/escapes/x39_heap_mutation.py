# kind: crash
# tries: comparisons that change the heap, the list under bisect and the deque that is copied
def solution(agent, start_from=1):
    import heapq, bisect, functools, copy
    h = []
    def compare(a, b):
        h.clear()
        return -1
    K = functools.cmp_to_key(compare)
    for use in (heapq.heapify, heapq.heappop, lambda x: heapq.heappush(x, K(5)), lambda x: heapq.heappushpop(x, K(1)), lambda x: bisect.insort(x, K(3)), lambda x: heapq.nlargest(3, x), lambda x: x.sort()):
        h[:] = [K(i) for i in range(50)]
        try:
            use(h)
        except (IndexError, RuntimeError, ValueError):
            pass
