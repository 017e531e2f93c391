# kind: swallow
# tries: leave the worker or hide a limit with SystemExit, KeyboardInterrupt and GeneratorExit
# a correct runtime must: end the plan with the exit, or with the limit; the host goes on
import sys
from concurrent.futures import Future
def solution(agent, start_from=1):
    for kind in (SystemExit, KeyboardInterrupt, GeneratorExit):
        try:
            type('Own', (kind,), {})
            print('CAN' + 'ARY derived')
        except TypeError:
            pass
        try:
            Future().set_exception(kind())
            print('CAN' + 'ARY set')
        except TypeError:
            pass
        try:
            raise kind('x')
        except BaseException as error:
            for name in ('__traceback__', '__context__', '__cause__', '__reduce__', 'with_traceback', '__setstate__'):
                try:
                    print('CAN' + 'ARY', getattr(error, name))
                except AttributeError:
                    pass
    try:
        'x' * 10 ** 12
    except (SystemExit, KeyboardInterrupt, GeneratorExit, BaseException):
        print('CAN' + 'ARY hid a limit')
    finally:
        sys.exit(0)
