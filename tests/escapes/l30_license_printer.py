# id: l30_license_printer
# kind: builtins
# tries: site's license() reads the files that its private list names
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    license._Printer__filenames = ['@SECRET@']
    license()
    print(copyright, credits, quit, exit)
