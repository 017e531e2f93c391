# id: k18_getattr_odd_names
# kind: getattr
# tries: names that are no identifiers: bytes, surrogates, NUL, dots, look-alikes in fullwidth
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    for name in (b'_secret', '\udc5f_secret', '\0_secret', 'goto.__func__', '＿secret', 'ｇoto', ' _secret', '', 5, None):
        try:
            print('CANARY-WALK', getattr(agent, name))
        except (AttributeError, TypeError, ValueError, UnicodeError):
            pass
