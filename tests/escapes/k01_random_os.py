# kind: walk
# tries: random._os: a façade that hands over the real module hands over the system
def solution(agent, start_from=1):
    import random
    print(random._os.environ['OPENAI_API_KEY'])
