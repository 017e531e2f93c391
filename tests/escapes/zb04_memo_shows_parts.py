# kind: walk
# tries: the memo of deepcopy shows the hidden parts of what the runtime holds
# a correct runtime must: note the plan's own values alone in it, or refuse the copy
def solution(agent, start_from=1):
    import contextlib, copy, io, sys, warnings
    from html.parser import HTMLParser
    class Mine(HTMLParser):
        pass
    for value in (Mine(), sys.stdout, contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings()):
        memo = {}
        try:
            copy.deepcopy(value, memo)
        except TypeError as e:
            print(e)
        for part in memo.values():
            if type(part).__name__ in ('HTMLReader', 'WarningLevel') or (type(part) is list and part and callable(part[0])):
                print('CAN' + 'ARY', part)
