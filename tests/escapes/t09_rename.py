# kind: fs
# tries: move the secret to the marker's place
# layer: cage
def solution(agent, start_from=1):
    import os
    os.rename('@SECRET@', '@MARKER@')
