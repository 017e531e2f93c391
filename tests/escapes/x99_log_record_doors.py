# kind: walk
# tries: what logging and traceback hold of an exception, a frame or the runtime, by records, formats, classes and objects handed in
# a correct runtime must: raise inside the plan or print texts; no traceback, frame, clock or writer may be reached
import logging, traceback
class Keep(logging.Handler):
    def emit(self, record):
        seen.append(record)
class Posing:
    name = levelname = 'x'
    levelno = created = msecs = 50
    exc_info = None
    def getMessage(self): return 'posing'
seen = []
def solution(agent, start_from=1):
    root = logging.getLogger()
    root.addHandler(Keep())
    try:
        1 / 0
    except ZeroDivisionError as e:
        root.exception('a')
        logging.error('b', exc_info=e)
        logging.error('c', exc_info=(1, e, e))
    for record in seen:
        print('CANARY traceback' if record.exc_info[2] is not None else 'no traceback')
    doors = [
        lambda: logging.error('d', extra={'__class__': int}),
        lambda: logging.error('d', extra={'_codeplan_': 1, 'levelno': 1}),
        lambda: logging.Formatter('{msg.__class__}', style='{').format(seen[0]),
        lambda: logging.Formatter('{exc_info[1].__traceback__}', style='{').format(seen[0]),
        lambda: logging.Formatter('%(message)s').format(Posing()),
        lambda: logging.Formatter.format(agent, seen[0]),
        lambda: logging.Handler.handle(agent, seen[0]),
        lambda: logging.StreamHandler(agent).emit(seen[0]),
        lambda: logging.StreamHandler(logging).emit(seen[0]),
        lambda: root.addHandler(agent),
        lambda: setattr(logging, 'root', 1),
        lambda: setattr(logging.Logger, 'log', print),
        lambda: setattr(logging.Handler, 'handle', print),
        lambda: logging.Logger.manager,
        lambda: logging.LogRecord('n', 1, 'm', (), None, agent),
        lambda: logging.basicConfig(filename='@MARKER@'),
        lambda: logging.FileHandler('@MARKER@'),
        lambda: traceback.format_exception(agent),
        lambda: traceback.print_exc(file=agent),
        lambda: traceback.sys,
        lambda: logging.os,
    ]
    for k, door in enumerate(doors):
        try:
            found = door()
            print(k, 'CANARY' if 'site-packages' in repr(found) or 'frame' in repr(found) else type(found).__name__)
        except Exception as e:
            print(k, type(e).__name__, str(e)[:80])
    parent = logging.getLogger('p')
    parent.parent = parent
    parent.error('never ends')
