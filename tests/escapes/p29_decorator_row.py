# id: p29_decorator_row
# kind: parse
# tries: three hundred decorators
# a correct runtime must: reject at check time with a diagnostic, or run it like any other plan; the parser may die in its worker, never the host
def solution(agent, start_from=1):
# repeat for k from 1 to 300
    @print
# end
    def f(): pass
