# id: l01_fullwidth_dunder
# kind: names
# tries: identifiers are normalised (NFKC) after the source is read: fullwidth letters make __class__
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    print('CANARY-WALK', [].__ｃｌａｓｓ__.__ｂａｓｅ__.__ｓｕｂｃｌａｓｓｅｓ__())
