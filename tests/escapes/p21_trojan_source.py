# id: p21_trojan_source
# kind: parse
# tries: characters that turn the direction of writing: the eye reads other code than the parser
# a correct runtime must: reject at check time with a diagnostic, or run it like any other plan; the parser may die in its worker, never the host
def solution(agent, start_from=1):
    access = "user‮ ⁦# check⁩ ⁦"
    if access != "user‮ ⁦# check⁩": print(agent._secret)
