# kind: ckpt
# tries: fold, the name of a time zone and the parts of a Windows path get lost in a checkpoint without notice, as does what an HTMLParser has read (resume at step 2 from step 1's end)
# a correct runtime must: restore each value as it was, or drop it by name
def solution(agent, start_from=1):
    import datetime
    import html.parser
    import pathlib

    class Reader(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            self.seen = tag

    if start_from <= 1:
        print('[Step 1] I keep values')
        folded = datetime.datetime(2020, 10, 25, 2, 30, fold=1)
        named = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1), 'CET'))
        path = pathlib.PureWindowsPath('./c:x')
        reader = Reader(convert_charrefs=False)
        reader.feed('<a ')
        assert start_from > 1, 'Error in [Step 1]: on purpose'
    if start_from <= 2:
        print('[Step 2] I read them')
        reader.feed('href="x">')
        found = [folded.fold, named.tzname(), path.parts, vars(reader)]
        right = [1, 'CET', ('c:x',), {'seen': 'a'}]
        assert found == right, f'CANARY in [Step 2]: {found}'
