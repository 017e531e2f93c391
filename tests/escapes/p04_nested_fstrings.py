# id: p04_nested_fstrings
# kind: parse
# tries: f-strings within f-strings (PEP 701 has no bound on the nesting)
# a correct runtime must: reject at check time with a diagnostic, or run it like any other plan; the parser may die in its worker, never the host
def solution(agent, start_from=1):
    x = f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{1}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'}'
