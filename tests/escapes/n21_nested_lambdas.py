# kind: cpu
# tries: recursion by a lambda that is handed to itself (no name to find it by)
def solution(agent, start_from=1):
    (lambda f: f(f))(lambda f: [f(f) for _ in range(2)])
