# kind: frame
# tries: function.__builtins__ and __defaults__ of the plan's own helper
def solution(agent, start_from=1):
    def helper(x=agent):
        return x
    print('CANARY-WALK', helper.__builtins__['open']('@SECRET@').read(), helper.__defaults__)
