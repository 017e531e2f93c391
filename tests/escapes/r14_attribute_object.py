# kind: agent
# tries: a public attribute whose value is an object of the host: its repr, its methods
def solution(agent, start_from=1):
    try:
        print(agent.host_secret)
    except Exception as e:
        print(e)
    print(agent.host_secret.secret)
