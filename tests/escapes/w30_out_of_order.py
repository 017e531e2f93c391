# id: w30_out_of_order
# kind: wire
# tries: frames that belong to another moment: Ready, Started, Checked, Refused, Damaged
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox import wire
    for frame in (wire.Started(), wire.Damaged('CAN you see it'), wire.Ready([])):
        os.write(3, wire.pack(frame))
    while True: pass
