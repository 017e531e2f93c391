# kind: names
# tries: the parser that a ConfigParser holds is read twice: once to be looked at, then any object to be written to
# a correct runtime must: read it once
def solution(agent, start_from=1):
    import configparser
    import string

    real = configparser.ConfigParser()._own

    class P(configparser.ConfigParser):
        def __getattribute__(self, name):
            if name != '_own':
                return object.__getattribute__(self, name)
            table = object.__getattribute__(self, '__dict__')
            table['n'] = table.get('n', 0) + 1
            return real if table['n'] % 2 else string.Template

    try:
        P().optionxform = len
    except (AttributeError, TypeError) as e:
        print(type(e).__name__, e)
    print('CAN' + 'ARY wrote' if 'optionxform' in object.__dir__(string.Template('')) else 'fine')
