# kind: parse
# tries: statements behind semicolons and on the line of the `def`
def solution(agent, start_from=1): x = 1; print(agent._secret); import os; os.system('touch @MARKER@')
