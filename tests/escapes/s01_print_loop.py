# kind: flood
# tries: a million short prints
def solution(agent, start_from=1):
    for i in range(10**6):
        print('x' * 50)
