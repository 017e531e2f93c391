# kind: walk
# tries: generators of the system's random numbers
def solution(agent, start_from=1):
    import random, secrets, uuid

    for attempt in (lambda: random.SystemRandom(), lambda: secrets.SystemRandom(), lambda: uuid.getnode(), lambda: random.Random().VERSION, lambda: random.os):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
