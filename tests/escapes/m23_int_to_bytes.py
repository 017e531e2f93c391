# kind: mem
# tries: bytes(n) and int.to_bytes make zeros by the number
def solution(agent, start_from=1):
    print(len(bytes(10**11)))
    print(len((1).to_bytes(10**11, 'big')))
