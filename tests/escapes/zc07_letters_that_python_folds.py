# kind: exc
# tries: a field's name with a fullwidth underscore is no reserved name, and one in the code that dataclass writes
# a correct runtime must: refuse the field, since Python folds its name
def solution(agent, start_from=1):
    import dataclasses
    seen = []

    class Own(Exception):
        def __eq__(self, other):
            seen.append(other)
            return True
    def make(word):
        class K(Exception):
            pass
        K.__annotations__ = {f'_\uff3f{word}\uff3f\uff3f': object}
        return dataclasses.dataclass(init=False)(K)
    def raised(kind):
        try:
            raise kind()
        except kind as e:
            return e
    try:
        K = make('context')
        try:
            assert False, 'over'
        except AssertionError:
            one = raised(K)
        try:
            raise Own()
        except Own:
            print(one == raised(K))
        print('CAN' + 'ARY' if seen else 'fine', [type(found) for found in seen])
        text = repr(make('reduce\uff3fex')())
        print('CAN' + 'ARY' if 'built-in' in text else 'fine', text)
    except (TypeError, ValueError, AttributeError) as e:
        print(type(e).__name__, e)
