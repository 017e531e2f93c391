# id: k03_json_decoder
# kind: walk
# tries: json.decoder is public in the real module, and imports re and scanner from there on
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    import json
    print(json.decoder.scanner.re.functools.sys.modules['builtins'].open('@SECRET@').read())
