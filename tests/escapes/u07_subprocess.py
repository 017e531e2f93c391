# kind: process
# tries: subprocess with a new session, so that a killed parent does not take it along
# layer: cage
def solution(agent, start_from=1):
    import subprocess
    subprocess.Popen(['/bin/sh', '-c', 'sleep 1; touch @MARKER@'], start_new_session=True)
