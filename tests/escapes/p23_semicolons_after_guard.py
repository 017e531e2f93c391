# id: p23_semicolons_after_guard
# kind: parse
# tries: statements behind semicolons and on the line of the `def`
# a correct runtime must: reject at check time with a diagnostic, or run it like any other plan; the parser may die in its worker, never the host
def solution(agent, start_from=1): x = 1; print(agent._secret); import os; os.system('touch @MARKER@')
