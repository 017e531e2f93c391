# kind: parse
# tries: the signature itself carries code: defaults, annotations, star arguments
def solution(agent: print(open('@SECRET@').read()) = open('@MARKER@', 'w'), start_from=__import__('os'), *a, **k) -> exec('1'):
    print(start_from.environ)
