# kind: objects
# tries: reach the runtime's reader behind a parser by copies, patterns, slots and methods of others
import copy
import operator
from html.parser import HTMLParser


class Found(HTMLParser):
    __match_args__ = ("__reader__",)

    def handle_data(self, data):
        self.data = data


def matched(p):
    match p:
        case Found(x):
            return x


def solution(agent, start_from=1):
    p = Found()
    p.feed("<a>text")
    got = []

    def attempt(f):
        try:
            got.append(f())
        except Exception as error:
            got.append(type(error).__name__)

    attempt(lambda: operator.attrgetter("__reader__")(p))
    attempt(lambda: getattr(p, "__reader__"))
    attempt(lambda: vars(p).get("__reader__"))
    attempt(lambda: vars(HTMLParser)["__reader__"].__get__(p))
    attempt(lambda: "{0.__reader__}".format(p))
    attempt(lambda: setattr(p, "__reader__", p))
    attempt(lambda: HTMLParser.feed(agent, "<a>"))
    attempt(lambda: HTMLParser.reset(p.handle_data))
    attempt(lambda: vars(copy.copy(p)))
    attempt(lambda: [name for name in dir(p) if "reader" in name])
    attempt(lambda: matched(p))
    for x in got:
        if type(x).__name__ == "HTMLReader":
            print("CANARY reader", x)
    print(got)
    return None
