# id: m01_format_conversion
# kind: format
# tries: conversions and index chains in a format string: {0!r}, {0[__class__]}, nested specs that look up attributes
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    for text in ('{0.goto}', '{0[__class__]}', '{0!r:{0.__class__}}', '{x.real}', '{0.__init__.__globals__}', '{0:{1.__doc__}}'):
        try:
            print('CANARY-WALK', text.format(agent, 1, x=5))
        except (ValueError, TypeError, KeyError, AttributeError, IndexError):
            pass
