# kind: names
# tries: the __init__ of an exception that is written in Python sets attributes of the library's classes and functions
# a correct runtime must: raise TypeError for what is no exception of that class
def solution(agent, start_from=1):
    import asyncio
    import calendar
    import configparser
    import json
    import re
    import string

    class Sly:
        def __getattr__(self, name):
            return lambda *given: print('CAN' + 'ARY', name, given)

    doors = [
        lambda thing: calendar.IllegalMonthError.__init__(thing, 1),
        lambda thing: calendar.IllegalWeekdayError.__init__(thing, 1),
        lambda thing: re.error.__init__(thing, 'm', Sly()),
        lambda thing: configparser.Error.__init__(thing, 'm'),
        lambda thing: configparser.NoOptionError.__init__(thing, 'a', 'b'),
        lambda thing: json.JSONDecodeError.__init__(thing, 'm', 'd', 0),
    ]
    for door in doors:
        for thing in (string.Template, asyncio.Future, json.dumps, calendar.Calendar(), agent):
            try:
                door(thing)
                print('CAN' + 'ARY wrote', thing)
            except (AttributeError, TypeError) as e:
                print(type(e).__name__, e)
    print(string.Template('$a').substitute(a=1))
