# kind: flood
# tries: escape sequences, carriage returns, surrogates, NULs: for the terminal and for the trace
def solution(agent, start_from=1):
    print('\x1b]0;title\x07\x1b[2J\x1b[31m\r\x08\x9b31m', '\udcff\ud800', '\0', '\u202e')
    raise ValueError('\x1b[2J\udcff\0\r\n[Step 99]')
