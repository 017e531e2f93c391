# kind: agent
# tries: scalars at the edge: NaN as a key, lone surrogates, ints of 100,000 bits, True as 1, empty text, text with NUL
def solution(agent, start_from=1):
    n = 2**99999
    for value in ({float('nan'): 1}, '\ud800', n, -n, True, '', '\0', float('-inf'), {'k': ('\udfff',)}, {(1, (2,)): 3}):
        try:
            agent.goto(value)
        except (TypeError, RuntimeError, ValueError, UnicodeError):
            pass
