# kind: walk
# tries: ZoneInfo reads a file that the plan wrote in memory
def solution(agent, start_from=1):
    from zoneinfo import ZoneInfo
    import io

    for attempt in (lambda: ZoneInfo.from_file(io.BytesIO(b'TZif')), lambda: ZoneInfo.no_cache('UTC'), lambda: ZoneInfo.clear_cache(), lambda: ZoneInfo('UTC').fromutc):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
