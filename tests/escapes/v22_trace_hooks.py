# kind: swallow
# tries: settrace, setprofile, audit hooks, gc callbacks: code between the runtime's own lines
# layer: cage
def solution(agent, start_from=1):
    import sys, gc
    def spin(*a):
        while True: pass
    gc.callbacks.append(spin)
    sys.addaudithook(spin)
    sys.settrace(spin)
    sys.setprofile(spin)
