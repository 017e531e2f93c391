# kind: exc
# tries: the class in an except clause is computed: Exception.mro()[1] is BaseException
def solution(agent, start_from=1):
    while True:
        try:
            while True:
                pass
        except Exception.mro()[1]:
            pass
