# kind: mem
# tries: widths and prefixes in calendars, indents, ljust of bytearray
def solution(agent, start_from=1):
    import calendar, textwrap
    print(len(calendar.month(2024, 1, 10**9)))
    print(len(textwrap.indent("a\n" * 10**5, " " * 10**5)), len(bytearray(b"a").ljust(10**10)))
