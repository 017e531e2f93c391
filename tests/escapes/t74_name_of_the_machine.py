# kind: kernel
# tries: the name of the machine, where the platform module keeps it
# a correct runtime must: show no path of the host
# layer: cage
def solution(agent, start_from=1):
    import shutil, sys
    platform = sys.modules.get('platform') or shutil
    if getattr(platform, '_uname_cache', None) is not None: print('CANARY-MACHINE', tuple.__getitem__(platform._uname_cache, 1))
