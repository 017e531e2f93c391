# kind: fs
# tries: readers of Python's own: linecache, a module's loader, zipimport, _io.open_code
# layer: cage
def solution(agent, start_from=1):
    import linecache, sys, _io
    for read in (lambda: linecache.getlines('@SECRET@') or 1 / 0, lambda: sys.modules['os'].__loader__.get_data('@SECRET@'), lambda: _io.open_code('@SECRET@').read()):
        try:
            print(read())
        except (OSError, ZeroDivisionError, AttributeError):
            pass
