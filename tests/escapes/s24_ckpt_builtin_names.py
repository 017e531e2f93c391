# kind: ckpt
# tries: a checkpoint that binds all builtins anew to what does not work
def solution(agent, start_from=1):
    if start_from <= 1:
        len = str = int = list = dict = sum = max = min = sorted = range = 5
        ValueError = KeyError = isinstance = repr = print_ = 'poison'
        seen = found = {'x': 1}
        assert seen == 2, 'now go on with this'
        assert True

