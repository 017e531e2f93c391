# id: p27_named_escapes
# kind: parse
# tries: escapes by name and by number make text that looks innocent in the source
# a correct runtime must: reject at check time with a diagnostic, or run it like any other plan; the parser may die in its worker, never the host
def solution(agent, start_from=1):
    name = '\N{LOW LINE}sec\x72et'
    print(getattr(agent, name))
    print('\x7b0.\137secret\x7d'.format(agent))
