# id: p18_utf7_cookie
# kind: parse
# tries: an encoding cookie: what looks like a comment is code to a parser that believes it
# a correct runtime must: reject at check time with a diagnostic, or run it like any other plan; the parser may die in its worker, never the host
# -*- coding: utf-7 -*-
def solution(agent, start_from=1):
    x = 1 # +AAo-    print(open('@SECRET@').read())
