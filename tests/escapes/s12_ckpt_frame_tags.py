# kind: ckpt
# tries: values that look like the codec's own table and the frames' own tags
def solution(agent, start_from=1):
    a = ['list', 1, 2]
    b = ['int', '0xff']
    c = {'names': {'x': 0}, 'nodes': [['ref', 0]], 'dropped': {}}
    d = ['tuple', ['dict', 'agent', 1]]
    e = ('text', '00')
    f = [['bytes', 'ff'], {'__ref__': 0}, ['float', 'nan']]
    assert False, 'Error in [Step 1]: stop'
