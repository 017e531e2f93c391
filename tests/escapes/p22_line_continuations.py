# id: p22_line_continuations
# kind: parse
# tries: backslashes at line ends inside strings, comments and after operators
# a correct runtime must: reject at check time with a diagnostic, or run it like any other plan; the parser may die in its worker, never the host
def solution(agent, start_from=1):
    x = 1 + \
        2
    y = 'a\
_secret'
    print(agent.\
        _secret)
    print(agent . _secret, agent\
._reset())
