# kind: objects
# tries: warning filters whose categories and patterns are the plan's own, and grow without end
import warnings


class Posing(UserWarning):
    def __str__(self):
        return "x" * 10**6


def solution(agent, start_from=1):
    got = []

    def attempt(f):
        try:
            got.append(f())
        except Exception as error:
            got.append(type(error).__name__)

    class Odd:
        def __eq__(self, other):
            return True

        def __hash__(self):
            return hash("error")

    attempt(lambda: warnings.simplefilter(Odd(), Warning))
    attempt(lambda: warnings.filterwarnings("error", Odd(), Odd()))
    attempt(lambda: warnings.warn("text"))
    warnings.resetwarnings()
    attempt(lambda: warnings.filterwarnings("error", "(a+)+$", UserWarning))
    attempt(lambda: warnings.warn(Posing("a")))
    attempt(lambda: warnings.warn("x", type(agent)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.resetwarnings()
        warnings.warn("seen")
        attempt(lambda: getattr(getattr(caught[0].message, "__init__"), "__glob" + "als__"))
    print(got)
    for number in range(10**7):
        warnings.filterwarnings("ignore", str(number))
