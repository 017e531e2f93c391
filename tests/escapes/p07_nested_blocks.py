# id: p07_nested_blocks
# kind: parse
# tries: blocks within blocks, up to the tokenizer's bound of a hundred
# a correct runtime must: reject at check time with a diagnostic, or run it like any other plan; the parser may die in its worker, never the host
def solution(agent, start_from=1):
# repeat for k from 1 to 95, deeper each time
    if x:
# end
                                                                                                    pass
