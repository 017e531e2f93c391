# kind: frames
# tries: thousands of calls whose answers are never read: the host's buffer fills up
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    flood = frames.pack(frames.CallFrame('look', [], {})) * 100
    while True:
        os.write(3, flood)
