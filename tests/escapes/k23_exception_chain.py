# id: k23_exception_chain
# kind: exc
# tries: __context__ and __cause__ of an exception that came over from the host
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    try:
        try:
            agent.fail()
        finally:
            agent.leaky()
    except Exception as e:
        print(e.__context__, e.__cause__, e.__notes__)
