# kind: class
# tries: have code of the plan run when an object goes, also after the plan's end, and read addresses
# a correct runtime must: take no callbacks, and show no addresses
import weakref
class Odd:
    def __hash__(self):
        return 1
    def __eq__(self, other):
        return False
def solution(agent, start_from=1):
    def late(*_):
        print('CAN' + 'ARY called')
    odd = Odd()
    for make in (lambda: weakref.ref(odd, late), lambda: weakref.finalize(odd, late), lambda: weakref.WeakMethod(odd.__hash__, late), lambda: weakref.ref(odd, callback=late)):
        try:
            make()
            print('CAN' + 'ARY accepted')
        except (TypeError, AttributeError):
            pass
    holders = [weakref.WeakSet([odd]), weakref.WeakKeyDictionary({odd: 1}), weakref.WeakValueDictionary(a=odd), weakref.ref(odd)]
    if '0' 'x' in f'{holders} {[*map(repr, holders)]} {holders[3]!s}':
        print('CAN' + 'ARY address')
    for owner in holders:
        for name in ('data', '_remove', '_pending_removals', '_commit_removals', 'keyrefs', 'valuerefs', '__callback__', '__dict__', '__reduce__'):
            try:
                print('CAN' + 'ARY', name, getattr(owner, name))
            except AttributeError:
                pass
