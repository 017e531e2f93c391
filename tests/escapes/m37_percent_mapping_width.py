# id: m37_percent_mapping_width
# kind: mem
# tries: a width after a mapping key in the percent format
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    if start_from <= 1:
        keep = []
        for i in range(100): keep.append('%(a)99999999d' % {'a': i})
        print('CANARY-MEMORY')
        assert True

