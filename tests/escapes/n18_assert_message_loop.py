# id: n18_assert_message_loop
# kind: cpu
# tries: the message of a failed assertion never ends
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    def message():
        while True:
            pass
    assert False, message()
