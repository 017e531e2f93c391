# kind: names
# tries: flags whose class has an own __and__ keep DEBUG, and re prints to the worker's real output
# a correct runtime must: take the number itself
def solution(agent, start_from=1):
    import re

    class Flags(int):
        def __and__(self, other):
            return 128

    try:
        print('CAN' + 'ARY' if 'DEBUG' in repr(re.compile('a(b)', Flags(1))) else 'fine')
    except (TypeError, ValueError) as e:
        print(type(e).__name__, e)
