# id: l05_long_s
# kind: names
# tries: letters that fold: ſ is s after NFKC, so `__claſſ__` is a dunder and `ſetattr` is setattr
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    print('CANARY-WALK', ().__claſſ__)
    ſetattr(agent, 'is_success', True)
