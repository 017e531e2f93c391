# kind: names
# tries: imports whose names or parts belong to the runtime or lead on
def solution(agent, start_from=1):
    import urllib.parse as json
    from collections import abc as re
    if hasattr(json, "sys") or hasattr(re, "sys"): print("CANARY-WALK")
    import collections.abc, urllib.parse

    for attempt in (lambda: urllib.parse.urllib, lambda: collections.abc.sys, lambda: collections.abc.collections, lambda: urllib.request.urlopen):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
