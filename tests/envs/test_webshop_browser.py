"""The shop in a browser: what a person sees and clicks goes through the agent's own environment."""

import http.client
import re
import signal
import subprocess
import sys
import threading
from urllib.parse import urlencode

import pytest
from support.webshop_goods import MUG, listed, shop

from codeplan.cli import main
from codeplan.envs.webshop.browser import ShopServer
from codeplan.envs.webshop.environment import WebShop
from codeplan.envs.webshop.products import Product
from codeplan.errors import UsageError
from codeplan.types.task import Task


@pytest.fixture
def server():
    mug = listed(options=("black | white", "large"))
    env = WebShop(shop(mug, listed(Product("B0X", "<b>Bold</b> & \"Quoted\" 'Thing'"), "find <i>it</i>")))
    with ShopServer(env, next(t for t in env.tasks("test") if "mug" in t.goal)) as serving:
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()


def request(server, method="GET", path="/", form=None, **headers):
    """The status and text of an answer; a form is sent as a browser sends those of the shop's own page."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    own = {"Host": f"127.0.0.1:{server.server_port}"}
    if form is not None:
        own |= {"Origin": f"http://127.0.0.1:{server.server_port}"}
    connection.request(method, path, urlencode(form or {}), {k: v for k, v in (own | headers).items() if v is not None})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def act(server, **form):
    assert request(server, "POST", form=form)[0] == 303
    return request(server)[1]


def test_a_person_can_do_the_whole_task(server):
    assert "i need a mug" in request(server)[1]
    assert f"<button name=click value='{MUG.asin}'" in act(server, query="mug")
    assert "value='black | white'" in act(server, click=MUG.asin)
    assert "class=chosen>black | white</button>" in act(server, click="black | white")
    act(server, click="large")
    page = act(server, click="Buy Now")
    assert "<p>Your score (min 0.0, max 1.0): 1.0</p>" in page
    assert "<strong>Thank you for shopping with us!</strong>" in page
    assert server.env.snapshot().success


def test_a_click_that_leads_nowhere_is_told(server):
    assert "That led nowhere." in act(server, click="nothing of the kind")


def test_another_task_can_be_begun(server):
    act(server, query="mug")
    other = 1 - int(re.search(r"Task buy/(\d)", request(server)[1])[1])
    page = act(server, task=f"buy/{other}")
    assert f"Task buy/{other} · 0 actions" in page
    status, text = request(server, "POST", form={"task": "buy/9"})
    assert (status, "has no task 'buy/9'" in text) == (400, True)


def test_what_products_and_goals_say_is_shown_as_text(server):
    act(server, query="bold thing quoted")
    page = act(server, task="buy/0") + act(server, task="buy/1") + act(server, query="bold thing quoted")
    assert "find &lt;i&gt;it&lt;/i&gt;" in page
    assert "&lt;b&gt;Bold&lt;/b&gt; &amp; &quot;Quoted&quot; &#x27;Thing&#x27;" in page
    assert "<b>Bold" not in page


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", ""])
def test_a_request_that_names_another_host_is_refused(server, host):
    assert request(server, Host=host)[0] in (400, 403)
    assert request(server, "POST", form={"query": "mug"}, Host=host)[0] in (400, 403)
    assert server.env.snapshot().actions == 0


@pytest.mark.parametrize("origin", ["http://evil.example", "null", None, "https://127.0.0.1", "http://127.0.0.1:1"])
def test_a_form_of_another_page_is_refused(server, origin):
    assert request(server, "POST", form={"query": "mug"}, Origin=origin)[0] == 403
    assert server.env.snapshot().actions == 0


@pytest.mark.parametrize("length", ["-1", "x", "999999999", "²"])
def test_a_body_without_end_is_refused(server, length):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.putrequest("POST", "/")
    connection.putheader("Origin", f"http://127.0.0.1:{server.server_port}")
    connection.putheader("Content-Length", length.encode())
    connection.endheaders()
    assert connection.getresponse().status == 400
    connection.close()


def test_nothing_but_the_page_and_its_style_is_served(server):
    assert request(server, path="/style.css")[0] == 200
    for path in ("/etc/passwd", "/../../etc/passwd", "/?x"):
        assert request(server, path=path)[0] == 404


def test_the_page_allows_no_script(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.request("GET", "/")
    answer = connection.getresponse()
    assert answer.getheader("Content-Security-Policy").startswith("default-src 'none'")
    assert "<script" not in answer.read().decode()
    connection.close()


def test_a_port_that_is_taken_is_told_in_a_sentence(server):
    with pytest.raises(UsageError, match="cannot be used"):
        ShopServer(server.env, Task("buy/0"), server.server_port)


def test_the_command_serves_until_it_is_interrupted():
    command = [sys.executable, "-m", "codeplan", "webshop", "serve", "--task", "buy/3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as serving:
        port = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\n", serving.stdout.readline())[1])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/")
        assert "Task buy/3" in connection.getresponse().read().decode()
        connection.close()
        serving.send_signal(signal.SIGINT)
        _, said = serving.communicate(timeout=20)
    assert (serving.returncode, said) == (0, "closed after 0 actions\n")


def test_the_command_refuses_a_task_that_there_is_not(capsys):
    assert main(["webshop", "serve", "--task", "buy/900"]) == 2
    assert "has no task" in capsys.readouterr().err
