# kind: walk
# tries: list[agent] and str | int make objects of typing's own, with __args__, __origin__ and a repr that looks at what is in them
def solution(agent, start_from=1):
    alias = list[agent]
    union = str | int
    print(alias, union, [*list[int]] != [] and isinstance(1, union))
    for value in (alias, union, dict[str, ask]):
        for name in ('__unpacked__', '__mro_entries__', '__reduce__', 'format', 'mro', '__code__'):
            try:
                print('CANARY-WALK', getattr(value, name))
            except AttributeError:
                pass
