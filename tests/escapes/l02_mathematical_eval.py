# kind: names
# tries: mathematical bold letters make eval and open
def solution(agent, start_from=1):
    print(𝐨𝐩𝐞𝐧('@SECRET@').read())
    print(𝔢𝔳𝔞𝔩('1'), 'CANARY-EVAL')
