# id: l31_help_pager
# kind: builtins
# tries: help() imports, pages, and takes a topic by text
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    help('os')
    help()
