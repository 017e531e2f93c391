# kind: parse
# tries: blocks within blocks, up to the tokenizer's bound of a hundred
def solution(agent, start_from=1):
# repeat for k from 1 to 95, deeper each time
    if x:
# end
                                                                                                    pass
