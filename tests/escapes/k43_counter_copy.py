# kind: dunder
# tries: a method of Counter that is written in Python returns self.__class__(self): of a class that is the class of classes
def solution(agent, start_from=1):
    if start_from <= 1:
        everything = Counter.copy(dict)
        always = everything('Always', (), {'__eq__': lambda self, other: True})
        print('CANARY-WALK', always() == 3)
        assert agent
