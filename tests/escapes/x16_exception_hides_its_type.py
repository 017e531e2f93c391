# kind: swallow
# tries: an exception whose __getattribute__ fails hides the memory limit that it carries
def solution(agent, start_from=1):
    class Hidden(Exception):
        def __getattribute__(self, name): raise KeyError(name)
    def deep():
        try:
            bytearray(10 ** 12)
        except Exception:
            raise Hidden()
    for _ in range(50):
        try:
            deep()
        except Exception as e:
            print('CANARY-HIDDEN')
