# kind: format
# tries: string.Template looks attributes up, or leads to its pattern and class
def solution(agent, start_from=1):
    from string import Template

    for attempt in (lambda: Template('${a.b}').substitute({'a.b': 1}).pattern, lambda: Template('$x').pattern, lambda: Template('$x').flags, lambda: Template.__subclasses__(), lambda: Template('${__class__}').substitute(x=agent)):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
