# kind: memory
# tries: flags of a decimal context that is freed write into bytes that took its place
# a correct runtime must: keep the context as long as its flags
def solution(agent, start_from=1):
    from decimal import Context, Inexact
    for size in range(40, 80):
        flags = Context().flags
        kept = [bytes(size) for _ in range(500)]
        flags[Inexact] = True
        if any(map(any, kept)):
            print('CAN' + 'ARY bytes of zeros were changed')
            break
