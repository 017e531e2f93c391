# id: m36_format_fields_made
# kind: format
# tries: nested fields make the attribute name at run time
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    if start_from <= 1:
        for t in ('{0[{1}]}', '{0.{1}}', '{:{0.__class__}}', '{0!r.__class__}', '{0:{1.__class__}}', '{0[a].__class__}', '{0[a][b].__class__}', '{.__class__}', '{[a].x}', '{0[a]__class__}', '{0[a]b.__class__}'):
            try:
                r = t.format({'a': 'x'}, agent)
                if '<class' in r: print('CANARY-WALK', r)
            except Exception as e: pass
        assert True

