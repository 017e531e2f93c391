# kind: parse
# tries: two functions called solution, and code between and after them that runs at module level
def solution(agent, start_from=1):
    pass
print(open('@SECRET@').read())
solution = lambda agent, start_from=1: print(agent._secret)
def solution(agent, start_from=1):
    agent._reset()
if __name__ == '__main__':
    open('@MARKER@', 'w')
