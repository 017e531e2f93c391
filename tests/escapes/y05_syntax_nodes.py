# kind: walk
# tries: run a syntax tree, change one, and reach Python's insides from nodes, their classes and a visitor
# a correct runtime must: let a plan read nodes only
import ast
def solution(agent, start_from=1):
    tree = ast.parse("__import__('os').system('touch @MARKER@')", mode='eval')
    for run in (lambda: eval(tree), lambda: eval(tree, {}), lambda: agent.goto(tree), lambda: ast.literal_eval(tree), lambda: ast.compile(tree)):
        try:
            if run() is not None:
                print('CAN' + 'ARY ran')
        except Exception:
            pass
    class Visitor(ast.NodeVisitor):
        def visit_Call(self, node):
            for owner in (node, type(node), ast.AST, self, self.visit, self.generic_visit, ast.parse, ast.walk(node)):
                for name in ('__globals__', '__subclasses__', '__reduce__', '__reduce_ex__', '__dict__', '__func__', '__code__', 'gi_frame', '__init__'):
                    try:
                        found = getattr(owner, name)
                    except Exception:
                        continue
                    if 'os' in str(found) and 'import' in str(found) and name == '__globals__':
                        print('CAN' + 'ARY', found)
    Visitor().visit(tree)
    for change in (lambda: setattr(tree, 'body', None), lambda: setattr(ast.AST, 'x', 1), lambda: setattr(ast.NodeVisitor, 'visit', print), lambda: setattr(ast.Call, '_fields', ())):
        try:
            change()
            print('CAN' + 'ARY changed')
        except (AttributeError, TypeError):
            pass
    for text in ('-' * 90_000 + '1', 'not ' * 20_000 + '1', 'x if y else ' * 8_000 + '1', 'a' + '.b' * 40_000, 'lambda:' * 9_000 + '1', '1+' * 40_000 + '1'):
        try:
            ast.unparse(ast.parse(text))
        except (ValueError, SyntaxError):
            pass
