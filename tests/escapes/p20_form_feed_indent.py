# id: p20_form_feed_indent
# kind: parse
# tries: form feeds and tabs in the indentation: two readers see two blocks
# a correct runtime must: reject at check time with a diagnostic, or run it like any other plan; the parser may die in its worker, never the host
def solution(agent, start_from=1):
    if 0:
	x = 1
        print(agent._secret)
    	print("y")
