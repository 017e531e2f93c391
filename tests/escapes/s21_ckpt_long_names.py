# kind: ckpt
# tries: variables with long names, entered again and again: the names are kept as well as the values
def solution(agent, start_from=1):
    big = {str(i) * 20: None for i in range(2000)}
# repeat for k from 1 to 300
    if start_from <= <k>:
        assert big
# end
