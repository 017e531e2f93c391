# kind: crash
# tries: the size of a Struct that copy made without its constructor reads a null pointer
# a correct runtime must: refuse the copy, or make it whole
def solution(agent, start_from=1):
    import copy, struct, sys
    made = copy.copy(struct.Struct('i'))
    if made.size != 4:
        agent.goto('CANARY half made')
    print(sys.getsizeof(made))
