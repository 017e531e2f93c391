# kind: fs
# tries: imports read files: is any module that is not loaded yet within reach?
# layer: cage
def solution(agent, start_from=1):
    import sys
    for name in ('antigravity', 'this', 'sqlite3', 'telnetlib', 'wave', 'turtle'):
        if name not in sys.modules:
            try:
                __import__(name)
                print('CANARY-IMPORT', name)
            except (ImportError, OSError):
                pass
