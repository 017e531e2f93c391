# kind: cpu
# tries: texts that cost the regular expressions of modules much
def solution(agent, start_from=1):
    import textwrap, csv, html, string, datetime
    print(len(textwrap.wrap("-" * 10**6)), len(html.unescape("&" * 10**6)))
    try:
        csv.Sniffer().sniff("'" + ",'" * 10**5)
    except csv.Error:
        pass
    try:
        datetime.datetime.strptime(" " * 10**5, "%d " * 10**4)
    except ValueError:
        pass
