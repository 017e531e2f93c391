# kind: fs
# tries: load a shared library from the disc, which runs its code
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    for name in ('libutil.so.1', 'libresolv.so.2', 'libcrypt.so.1', '@SECRET@'):
        try:
            print('CANARY-DLOPEN', ctypes.CDLL(name))
        except OSError:
            pass
