# kind: walk
# tries: every object that the collector knows is searched for paths of packages
# a correct runtime must: show no path of the host
# layer: cage
def solution(agent, start_from=1):
    import gc
    gc.unfreeze()
    for table in gc.get_objects():
        if type(table) is dict:
            for key, value in list(table.items()):
                for text in (key, value, *(key if type(key) is tuple else ())):
                    if type(text) is str and ('/site-packages/' in text and len(text) < 500): print('CANARY-PATH', text)
