# kind: swallow
# tries: a generator goes with its last reference while its finally fills the memory: Python writes such an error to stderr, and the plan goes on
# a correct runtime must: end the plan with the limit
def solution(agent, start_from=1):
    def fill():
        try:
            yield
        finally:
            bytearray(10**15)

    def drop():
        held = fill()
        next(held)

    drop()
    print('CAN' + 'ARY goes on after a limit')
