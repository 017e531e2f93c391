"""An MCP server without the official package, which starts fast and misbehaves on request.

Its argument is Python: an expression for the list of tools. A tool named as one of the functions below does what that
one does; any other answers with its arguments as text. ``${PIDFILE}`` gets the ids of the server and of a child.
"""

import json
import os
import signal
import subprocess
import sys
import time


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


OFFERED = ["change", "old"]


def change(arguments):
    """Offer other tools from now on, and say so."""
    OFFERED[:] = arguments["names"]
    send({"method": "notifications/tools/list_changed"})
    return text("changed")


def silent(_):
    return None


def chart(_):
    """An answer with a part of a kind that the protocol does not have."""
    return {"content": [{"type": "chart", "data": [1, 2]}, {"type": "text", "text": "12"}]}


def chart_alone(_):
    return {"content": [{"type": "chart", "data": [1, 2]}]}


def structured_alone(_):
    return {"content": [{"type": "chart"}], "structuredContent": {"n": 12}}


ANSWERS = {
    "content_null": {"content": None, "structuredContent": {"n": 12}},
    "content_missing": {"structuredContent": {"n": 12}},
    "empty_object": {"content": [{"type": "chart"}], "structuredContent": {}},
    "structured_list": {"content": [], "structuredContent": [1, 2]},
    "structured_list_beside_text": {"content": [{"type": "text", "text": "12"}], "structuredContent": [1, 2]},
    "odd_hint": {"content": [{"type": "text", "text": "12", "annotations": {"priority": 7}}]},
    "link_without_name": {"content": [{"type": "text", "text": "12"}, {"type": "resource_link", "uri": "note://1"}]},
    "nothing": {"content": []},
    "content_null_alone": {"content": None},
    "empty": {},
}


def progress(arguments, token):
    """Report progress ``reports`` times, every 0.1 s, and then answer."""
    for step in range(arguments["reports"]):
        time.sleep(0.1)
        send({"method": "notifications/progress", "params": {"progressToken": token, "progress": step}})
    return text("done")


def huge(arguments):
    return text("x" * arguments.get("size", 20 << 20))


def table(_):
    return {"content": [], "structuredContent": {"rows": [[]] * 240_000}}


def wide(_):
    return {"content": [], "structuredContent": {"rows": [[]] * 300_000}}


def commas(_):
    return text('["' * 600_000)


def endless(_):
    while True:
        sys.stdout.write("x" * (1 << 20))


def flood(_):
    while True:
        sys.stdout.write('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n')


def garbage(_):
    sys.stdout.write("this is a log\n\x1b[31m{}\n[1,2]\n\n" + "[" * 100_000 + "\n")
    return text("after the garbage")


def die(_):
    print("Segmentation fault \x1b[2J of the library", file=sys.stderr, flush=True)
    os._exit(9)


def refuse(_):
    return text("\x1b[31mno\nmore " + "y" * 10_000, isError=True)


def fail(arguments):
    return {"error": {"code": arguments["code"], "message": "out of order"}}


def nonsense(_):
    return {"content": 7}


def nested(_):
    value = []
    for _ in range(100):
        value = [value]
    return {"content": [], "structuredContent": {"deep": value}}


def blob(arguments):
    return {
        "content": [{"type": "image", "data": arguments.get("data", "%%%"), "mimeType": "../../etc/\x1b[31mpasswd"}]
    }


def mixed(_):
    return {
        "content": [
            {"type": "text", "text": "see"},
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "note://1", "text": "a note", "mimeType": "text/plain"}},
            {"type": "resource", "resource": {"uri": "note://2", "blob": "aGk="}},
            {"type": "resource_link", "uri": "note://3", "name": "third"},
        ]
    }


def picture(_):
    block = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    return {"content": [block], "structuredContent": {"content": [block]}}


def unfit(_):
    return {"content": [], "structuredContent": {"why": "the jar is shut"}, "isError": True}


def ask(_):
    send({"id": 99, "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 10}})
    answer = json.loads(sys.stdin.readline())
    return text(json.dumps(answer.get("error", {}).get("message", "it was answered")))


def environment(_):
    return text(json.dumps(dict(os.environ)))


def answer(message, tools):
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        info = {"name": "raw", "version": "1"}
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        send({"id": number, "result": json.loads(os.environ.get("INITIALIZE") or json.dumps(result))})
    elif method == "tools/list":
        send({"id": number, "result": {"tools": tools} if isinstance(tools, list) else tools(message)})
    elif method == "tools/call":
        arguments = message["params"].get("arguments", {})
        name = message["params"]["name"]
        act = (
            (lambda _: ANSWERS[name]) if name in ANSWERS else globals().get(name, lambda given: text(json.dumps(given)))
        )
        token = message["params"].get("_meta", {}).get("progressToken")
        result = act(arguments, token) if act is progress else act(arguments)
        if result is not None:
            send({"id": number, **(result if "error" in result else {"result": result})})
    elif number is not None:
        send({"id": number, "error": {"code": -32601, "message": "no such method"}})


def main():
    if os.environ.get("PIDFILE"):
        child = subprocess.Popen(["sleep", "1000"])
        with open(os.environ["PIDFILE"], "a") as file:
            file.write(f"{os.getpid()} {child.pid}\n")
    if os.environ.get("STUBBORN"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    tools = eval(sys.argv[1])
    for line in sys.stdin:
        answer(json.loads(line), tools)
    while os.environ.get("STUBBORN"):
        time.sleep(1)


if __name__ == "__main__":
    main()
