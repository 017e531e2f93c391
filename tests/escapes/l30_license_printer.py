# kind: builtins
# tries: site's license() reads the files that its private list names
def solution(agent, start_from=1):
    license._Printer__filenames = ['@SECRET@']
    license()
    print(copyright, credits, quit, exit)
