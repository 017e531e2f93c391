# kind: fs
# tries: names of time zones as paths
def solution(agent, start_from=1):
    from zoneinfo import ZoneInfo
    for key in ("../../../etc/passwd", "/etc/passwd", "@SECRET@", "..", "localtime", "Europe/../../../../etc/shadow", "x" * 100000, "a\0b"):
        try:
            print("CANARY-FS", ZoneInfo(key))
        except (LookupError, ValueError, OSError):
            pass
