# kind: class
# tries: make classes with type(name, bases, namespace) that a class statement could not make
# a correct runtime must: take the names and bases of a class statement only
def solution(agent, start_from=1):
    def late(*_):
        print('CAN' + 'ARY called')
    for name in ('__del__', '__reduce__', '__reduce_ex__', '__class__', '__plan_class__', '__instancecheck__', '__subclasshook__', '__bases__', '__mro__', '__dict__', '__weakref__', '__classcell__', '__prepare__', 'gi_frame', 'f_globals', '__code__', '__getstate__', '__mro_entries__'):
        try:
            made = type('Own', (), {name: late})
            print('CAN' + 'ARY', name, made)
        except TypeError:
            pass
    class Names(dict):
        def items(self):
            return [('__del__', late)]
    class Text(str):
        pass
    for given in (('K', (), Names()), (Text('K'), (), {}), ('K', [], {}), ('K', (type,), {}), ('K', (BaseException,), {}), ('K', (print,), {}), ('K', (bool,), {}), ('K', (), {Text('__del__'): late})):
        try:
            print('CAN' + 'ARY', type(*given))
        except TypeError:
            pass
