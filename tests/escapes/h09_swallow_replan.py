# kind: swallow
# tries: go on after replan and give_up, by handlers, finally, comprehensions, a sort key and other names
# a correct runtime must: end the run at the first of them
def solution(agent, start_from=1):
    ends = [replan, give_up]
    def stop(n):
        try:
            ends[n % 2]('n' * n)
        except:
            print('CANARY a handler caught it')
        finally:
            try:
                agent.goto('desk 1')
                print('CANARY finally acted')
            except Exception:
                print('CANARY finally went on')
        return n
    if start_from <= 1:
        try:
            found = sorted([3, 1, 2], key=stop)
        except Exception:
            found = [next(iter([stop(n)])) for n in range(9)]
        print('CANARY the step went on', found)
        replan('done')
