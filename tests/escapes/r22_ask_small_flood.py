# kind: ask
# tries: many questions just under the cap
def solution(agent, start_from=1):
    for i in range(200):
        ask(str(i) + 'x' * 19000)
