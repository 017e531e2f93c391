# id: m12_translate_amplify
# kind: mem
# tries: translate puts a long text in place of each letter
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    table = {97: 'x' * 10**6}
    print(len(('a' * 10**6).translate(table)))
