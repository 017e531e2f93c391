# kind: exc
# tries: exceptions whose args hold objects of the runtime: call a guard wrongly and look at what it says
def solution(agent, start_from=1):
    for function in (agent.goto, print, ask, literal_eval, getattr, 'x'.format, [].append):
        try:
            function(agent, print, ask, nothing=agent)
        except Exception as e:
            for a in e.args:
                if type(a) is not str: print('CANARY-WALK', a)
            if '/' in str(e) and '.py' in str(e): print('CANARY-PATH', e)
