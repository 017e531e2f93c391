# kind: mem
# tries: positions and sizes beyond all memory
def solution(agent, start_from=1):
    import io
    for make in (lambda: io.StringIO().seek(2**62), lambda: io.BytesIO().truncate(2**62), lambda: io.BytesIO(bytes(10**7)).read(2**62)):
        try:
            make()
        except (OverflowError, ValueError):
            pass
    f = io.BytesIO()
    f.seek(2**40)
    f.write(b"x")
