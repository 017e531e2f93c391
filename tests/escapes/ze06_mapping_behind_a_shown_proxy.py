# kind: names
# tries: the table of ConfigParser shows its mapping proxy itself, whose comparison gives the other side the library's own dict
# a correct runtime must: show a copy, as it does for the attribute
def solution(agent, start_from=1):
    import configparser
    got = []

    class Other:
        def __eq__(self, other):
            got.append(other)
            return True

    try:
        print(vars(configparser.ConfigParser)['BOOLEAN_STATES'] == Other())
        got[0]['perhaps'] = True
    except (AttributeError, TypeError, KeyError, IndexError) as e:
        print(type(e).__name__, e)
    print('CAN' + 'ARY' if 'perhaps' in configparser.ConfigParser.BOOLEAN_STATES else 'fine')
