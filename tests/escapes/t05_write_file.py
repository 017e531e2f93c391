# kind: fs
# tries: make the marker as a file
# layer: cage
def solution(agent, start_from=1):
    open('@MARKER@', 'w').write('here')
