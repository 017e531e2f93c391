# id: w37_ask_too_long
# kind: frames
# tries: a question larger than may be asked, past the worker's own count
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    os.write(3, frames.pack(frames.AskFrame('x' * 10**6)))
    while True: pass
