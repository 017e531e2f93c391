# kind: names
# tries: a class in a function reads past it, and gives names of the runtime other meanings
# a correct runtime must: leave the names of the runtime as they are
secret = 'outside'
def solution(agent, start_from=1):
    def f(agent, print, getattr=None):
        secret = 'inside'
        class A:
            secret = secret
            agent = agent
            print = print
            getattr = getattr
            class B:
                agent = agent
                len = len
            def goto(self, place):
                return agent, print, secret
        return A
    A = f('mine', 'own')
    print(A.secret, A.agent is agent, A.print is print, A.getattr is getattr, A().goto('CANARY'))
