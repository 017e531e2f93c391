# kind: cpu
# tries: the message of a failed assertion never ends
def solution(agent, start_from=1):
    def message():
        while True:
            pass
    assert False, message()
