# kind: mem
# tries: widths that reach the formatter by other doors: bytes %, ljust by getattr, zfill through map, a huge fill
def solution(agent, start_from=1):
    list(map(str.zfill, ['1'] * 100, [10**9] * 100))
    getattr('x', 'center')(10**10)
    b'%9999999999d' % 1
