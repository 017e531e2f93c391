# kind: names
# tries: identifiers are normalised (NFKC) after the source is read: fullwidth letters make __class__
def solution(agent, start_from=1):
    print('CANARY-WALK', [].__ｃｌａｓｓ__.__ｂａｓｅ__.__ｓｕｂｃｌａｓｓｅｓ__())
