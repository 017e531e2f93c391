# kind: parse
# tries: walrus in every place that the grammar allows: subscripts, slices, arguments, conditions, sets, f-strings
def solution(agent, start_from=1):
    print((a := agent), [1][(b := 0):(c := 1)], {(d := 1)}, f'{(e := a)!r:{(w := 9)}}', (lambda: (h := a))())
    print(a._secret, b, c, d, e._reset())
