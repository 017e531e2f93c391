# id: m34_encode_errors
# kind: mem
# tries: encode and decode with error handlers that lengthen: xmlcharrefreplace, namereplace, backslashreplace
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    s = '\U0001F600' * 5 * 10**6
    print(len(s.encode('ascii', 'namereplace')), len(s.encode('ascii', 'xmlcharrefreplace') * 1000))
