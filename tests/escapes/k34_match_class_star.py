# kind: frame
# tries: match class patterns call isinstance and read __match_args__ of any class that is named
def solution(agent, start_from=1):
    match ask:
        case Exception(args=(first, *_)) | object(__globals__=first):
            print('CANARY-WALK', first)
    match {'a': agent}:
        case {'a': dict() as d} | {'a': object(_secret=d)}:
            print(d)
