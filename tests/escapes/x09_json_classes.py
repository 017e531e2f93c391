# kind: walk
# tries: json with a class of its own, and its decoder
def solution(agent, start_from=1):
    import json

    for attempt in (lambda: json.loads('1', cls=int), lambda: json.dumps(1, cls=dict), lambda: json.JSONDecoder, lambda: json.decoder, lambda: json.codecs):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
