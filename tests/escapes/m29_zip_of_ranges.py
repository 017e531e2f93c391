# id: m29_zip_of_ranges
# kind: mem
# tries: zip, enumerate and reversed multiply: tuples of long tuples
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    rows = list(zip(*[range(10**5)] * 1000))
    print(len(rows))
