# id: o13_sub_callback_reentry
# kind: crash
# tries: re.sub's callback calls the same pattern again, without end
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    import re
    p = re.compile('a')
    def again(match):
        return p.sub(again, match.string)
    print(p.sub(again, 'aaa'))
