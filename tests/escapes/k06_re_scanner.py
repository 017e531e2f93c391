# kind: walk
# tries: re.Scanner, an undocumented class whose callbacks get the scanner object itself
def solution(agent, start_from=1):
    import re
    def action(scanner, text):
        print('CANARY-WALK', scanner.scanner.pattern, scanner.lexicon)
        return text
    re.Scanner([('.', action)]).scan('x')
