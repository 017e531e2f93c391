# kind: walk
# tries: a syntax node is made with _fields of its own, by which ast.iter_fields and ast.dump read any name
# a correct runtime must: read the fields of the node's class alone, or raise Python's error
def solution(agent, start_from=1):
    import ast

    names = ('__reduce_ex__', '__class__', '__dict__', '__init_subclass__')
    for make in (lambda: ast.Name(_fields=names), lambda: ast.Name(id='a', _attributes=names, _fields=names)):
        try:
            node = make()
            found = dict(ast.iter_fields(node))
            print('CAN' + 'ARY' if '__reduce_ex__' in found else 'fine', found)
        except (AttributeError, TypeError, KeyError, ValueError) as e:
            print(type(e).__name__, e)
        try:
            text = ast.dump(make(), include_attributes=True)
            print('CAN' + 'ARY' if 'built-in method' in text else 'fine', text)
        except (AttributeError, TypeError, ValueError) as e:
            print(type(e).__name__, e)
    try:
        node = ast.Name(**{'__class__': ast.Call})
        print('CAN' + 'ARY' if type(node) is ast.Call else 'fine')
    except (AttributeError, TypeError) as e:
        print(type(e).__name__, e)
