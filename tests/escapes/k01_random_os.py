# id: k01_random_os
# kind: walk
# tries: random._os: a façade that hands over the real module hands over the system
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    import random
    print(random._os.environ['OPENAI_API_KEY'])
