"""Logins by OAuth: they are made once, renewed, and kept from all but the site that they are for."""

import asyncio
import json
import logging
import stat
import threading
import time
from dataclasses import replace

import httpx2
import pytest
from support.login_site import login_site, stored, use_browser
from support.mcp_site import site, text
from support.terminals import codeplan_on_terminal

from codeplan.cli import main
from codeplan.errors import AgentError, EnvironmentFailure, UsageError
from codeplan.tools.mcp import McpServers, ServerAddress
from codeplan.tools.mcp.login_store import LoginFile, login_command
from codeplan.tools.mcp.logins import LoginFailure, require_allowed
from codeplan.tools.mcp.servers import log_in


@pytest.fixture(autouse=True)
def own_logins(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    use_browser(monkeypatch, tmp_path)


def files(folder):
    return [path for path in (folder / "config" / "codeplan" / "mcp-logins").iterdir() if path.suffix == ".json"]


def look(address):
    with McpServers([address], seconds=20) as servers:
        return servers.tools[0].call({})


def seen(handler, number):
    handler.answer(number, text("seen"))


def change(address, **fields):
    """Change the stored login."""
    login = stored(address)
    for name, value in fields.items():
        setattr(login, name, value)
    LoginFile(address.url).write(login)


def revoke(server):
    server.valid = set()


# ------------------------------------------------------------------ login and logout


def test_a_login_is_made_once_and_kept_for_the_user_alone(tmp_path, capsys):
    with login_site(seen) as (server, address):
        assert main(["mcp", "login", address.url]) == 0
        shown = capsys.readouterr()
        assert "wants you to log in at 127.0.0.1. Open this address in a browser:\nhttp://127.0.0.1:" in shown.err
        assert "can be used; it offers 1 tool\n" in shown.out
        (file,) = files(tmp_path)
        assert [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)] == [0o600, 0o700]
        assert look(address) == "seen" and main(["mcp", "login", address.url]) == 0
        assert [path for path, *_ in server.asked if path == "/token"] == ["/token"]
        assert main(["mcp", "logout", address.url]) == 0 and files(tmp_path) == []
        assert main(["mcp", "logout", address.url]) == 0
        assert [line.partition(": ")[2] for line in capsys.readouterr().out.splitlines()][-2:] == [
            "the login is removed",
            "there is no login",
        ]


def test_a_name_in_a_file_of_servers_is_logged_in_with_its_headers(tmp_path, capsys):
    with login_site() as (server, address):
        entry = {"url": f"{address.url}?key=secret", "headers": {"X-Key": "k"}}
        (tmp_path / "servers.json").write_text(json.dumps({"mcpServers": {"my notes": entry}}))
        assert main(["mcp", "login", "my_notes", "--mcp-config", str(tmp_path / "servers.json")]) == 0
        assert all(headers["X-Key"] == "k" for method, headers in server.seen if method != "DELETE")
        assert all("X-Key" not in headers for path, headers, _ in server.asked if path != "/mcp?key=secret")
        assert "secret" not in files(tmp_path)[0].read_text() + capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["login"], "name the server: codeplan mcp login URL"),
        (["login", "notes"], "'notes' is not a URL; name one by its URL, or by its name with --mcp-config FILE"),
        (["install", "x"], "codeplan mcp install takes no further argument"),
        (["logout", "http://a", "--client-id", "x"], "--client-id belongs to codeplan mcp login"),
    ],
)
def test_a_wrong_command_is_one_sentence(capsys, arguments, said):
    assert main(["mcp", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_programs_and_sites_with_own_credentials_take_no_login():
    for address, said in (
        (ServerAddress("notes", ("true",)), "notes is a program"),
        (ServerAddress("notes", url="https://a.b/mcp", headers={"authorization": "Bearer x"}), "that you give"),
        (ServerAddress("notes", url="https://me:pw@a.b/mcp"), "that you give"),
    ):
        with pytest.raises(UsageError, match=said):
            log_in(address)


def test_on_a_terminal_an_episode_starts_the_login(tmp_path):
    (tmp_path / "plan.py").write_text(
        "def solution(agent, start_from=1):\n    if start_from <= 1:\n        return agent.look()\n"
    )
    with login_site(seen) as (_, address):
        shown = codeplan_on_terminal(["exec", "plan.py", "--mcp", address.url, "--allow", "*"], tmp_path)
        assert "wants you to log in at 127.0.0.1" in shown.text.replace("\r\n", " ") and "seen" in shown.text
        assert stored(address).tokens


def test_without_a_terminal_the_command_is_named_and_nothing_is_asked():
    with login_site() as (server, address):
        with pytest.raises(EnvironmentFailure) as caught:
            look(address)
        assert str(caught.value) == (
            "the MCP server site cannot be used: HTTP status 401 (Unauthorized): it offers a login by OAuth; "
            f"log in: codeplan mcp login {address.url}"
        )
        assert not server.asked


def test_the_command_names_no_secret_of_an_address():
    assert login_command("notes", "https://a.b/mcp?key=1") == "codeplan mcp login notes --mcp-config FILE"


def test_credentials_that_the_user_gives_go_first():
    with login_site() as (server, address):
        log_in(address)
        given = replace(address, headers={"Authorization": "Bearer mine"})
        with pytest.raises(EnvironmentFailure, match='give one as "headers"'):
            look(given)
        assert server.seen[-1][1]["Authorization"] == "Bearer mine"


def test_a_site_without_metadata_of_oauth_keeps_its_sentence():
    no_metadata = {"refusal": {}, "resource": b"<html>", "metadata": b"<html>", "registered": 404}
    with login_site(**no_metadata) as (_, address), pytest.raises(EnvironmentFailure) as caught:
        log_in(address)
    assert str(caught.value).endswith(
        'cannot be used: HTTP status 401 (Unauthorized); it wants a key: give one as "headers" in the configuration, '
        'as in {"url": "…", "headers": {"Authorization": "Bearer ${env:NAME}"}}'
    )


def test_a_registration_of_the_users_own_is_used_and_stays_with_its_authorization_server(monkeypatch):
    monkeypatch.setenv("CODEPLAN_MCP_CLIENT_SECRET", "s3cret")
    with login_site(registered=404) as (server, address):
        assert main(["mcp", "login", address.url]) == 4
        assert main(["mcp", "login", address.url, "--client-id", "mine"]) == 0
        (_, headers, _) = next(asked for asked in server.asked if asked[0] == "/token")
        assert headers["Authorization"].startswith("Basic ")
        assert stored(address).client["issuer"] == address.url.removesuffix("/mcp")


# ------------------------------------------------------------------ renewal


def test_an_expired_token_is_renewed_and_the_new_one_kept():
    with login_site(seen) as (server, address):
        log_in(address)
        first = stored(address).tokens
        change(address, expires_at=time.time() - 1)
        assert look(address) == "seen"
        second = stored(address)
        assert second.tokens["access_token"] != first["access_token"] and second.expires_at > time.time() + 3000
        assert [path for path, *_ in server.asked].count("/authorize") == 0
        assert not [headers for method, headers in server.seen if method == "401"][1:]


def test_a_token_that_the_site_refuses_is_renewed_once():
    with login_site(seen) as (server, address):
        log_in(address)
        with McpServers([address], seconds=20) as servers:
            revoke(server)
            assert servers.tools[0].call({}) == "seen"
            server.renewals = set()
            revoke(server)
            with pytest.raises(AgentError, match=f"log in: codeplan mcp login {address.url}"):
                servers.tools[0].call({})


def test_processes_renew_a_token_one_after_the_other():
    """Each renewal is valid once, and the second use of one would revoke the login at many servers."""
    with login_site(seen) as (server, address):
        log_in(address)
        with McpServers([address], seconds=20) as one, McpServers([address], seconds=20) as other:
            revoke(server)
            assert one.tools[0].call({}) == other.tools[0].call({}) == "seen"
            change(address, expires_at=1.0)
            revoke(server)
            several = [threading.Thread(target=look, args=(address,)) for _ in range(4)]
            for thread in several:
                thread.start()
            for thread in several:
                thread.join()
            assert one.tools[0].call({}) == "seen"
        bodies = [body for path, _, body in server.asked if path == "/token"]
        assert len(bodies) == len(set(bodies)) == 3


def test_calls_under_a_login_run_together():
    together = threading.Barrier(2, timeout=20)

    def meet(handler, number):
        together.wait()
        handler.answer(number, text("met"))

    with login_site(meet) as (_, address):
        log_in(address)
        with McpServers([address], seconds=20) as servers:
            answers = []
            calls = [threading.Thread(target=lambda: answers.append(servers.tools[0].call({}))) for _ in range(2)]
            for call in calls:
                call.start()
            for call in calls:
                call.join()
            assert answers == ["met", "met"]


def test_a_call_that_wants_a_larger_login_gets_it_with_the_next_one():
    def refuse(handler, number):
        challenge = 'Bearer error="insufficient_scope", scope="write"'
        handler.send(403, b"", **{"www-authenticate": challenge})

    with login_site(refuse) as (server, address):
        log_in(address)
        with pytest.raises(AgentError, match=f"log in: codeplan mcp login {address.url}"):
            look(address)
        log_in(address)
        assert "scope=write" in server.visited[-1] and not stored(address).challenge


# ------------------------------------------------------------------ hostile servers

NOWHERE = "http://192.0.2.1/x"


def fault_of(**odd):
    """Why the login at a site with odd answers fails."""
    with login_site(**odd) as (server, address):
        with pytest.raises(EnvironmentFailure) as caught:
            log_in(address)
        assert not stored(address).tokens
        return str(caught.value), server


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ({"refusal": {"www-authenticate": f'Bearer resource_metadata="{NOWHERE}"'}}, "without encryption"),
        ({"resource": {"authorization_servers": [NOWHERE]}}, "without encryption"),
        ({"resource": {"resource": "https://other.example/mcp"}}, "does not match expected"),
        ({"resource": b" " * 300_000}, "sent an answer of more than 256 KiB"),
        ({"headers": {"content-encoding": "gzip"}}, "sent a compressed answer, which is not read"),
        ({"metadata": {"issuer": "http://127.0.0.1:1"}}, "issuer mismatch"),
        ({"metadata": {"token_endpoint": NOWHERE}}, "leads to '192.0.2.1' without encryption"),
        ({"metadata": {"registration_endpoint": NOWHERE}}, "leads to '192.0.2.1' without encryption"),
        ({"metadata": {"authorization_endpoint": NOWHERE}}, "leads to '192.0.2.1' without encryption"),
        ({"metadata": {"authorization_endpoint": "https://a.b/" + "x" * 9_000}}, "cannot be shown"),
        ({"metadata": {"code_challenge_methods_supported": ["plain"]}}, "does not support PKCE with S256"),
        ({"answer": {"error": "access_denied", "error_description": "no\x1b[2J"}}, "was refused: access_denied: no"),
        ({"answer": {"code": "x", "iss": "https://evil.example"}}, "iss mismatch"),
        ({"answer": {"code": "stolen"}}, "invalid_grant"),
        ({"token": {"access_token": 7, "refresh_token": "secret-7"}}, "Invalid token response"),
        ({"token": b"["}, "Invalid token response"),
    ],
)
def test_a_hostile_login_fails_in_a_sentence(caplog, odd, said):
    with caplog.at_level(logging.DEBUG):
        fault, server = fault_of(**odd)
    assert "; the login failed: " in fault and said in fault and "\n" not in fault and len(fault) < 900
    told = caplog.text + fault
    assert not any(token in told for token in ("secret-7", "access-token-", "renewal-"))


@pytest.mark.parametrize("place", ["javascript:alert(1)", "file:///etc/passwd", "ssh://a.b"])
def test_no_browser_is_sent_to_another_scheme(capfd, place):
    """Such metadata is not read; without it, the login is at the site itself."""
    with login_site(metadata={"authorization_endpoint": place}) as (server, address):
        log_in(address)
        assert len(server.visited) == 1
    assert place not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("site_url", "url", "allowed"),
    [
        ("https://8.8.8.8/mcp", "https://1.1.1.1/token", True),
        ("https://8.8.8.8/mcp", "http://1.1.1.1/token", False),
        ("https://8.8.8.8/mcp", "https://10.0.0.1/", False),
        ("https://8.8.8.8/mcp", "https://169.254.169.254/latest", False),
        ("https://8.8.8.8/mcp", "https://127.0.0.1/", False),
        ("https://8.8.8.8/mcp", "https://[::1]/", False),
        ("https://8.8.8.8/mcp", "https://[::ffff:10.0.0.1]/", False),
        ("https://8.8.8.8/mcp", "https://[fd00::1]/", False),
        ("https://8.8.8.8/mcp", "https://0.0.0.0/", False),
        ("https://8.8.8.8/mcp", "https://2130706433/", False),
        ("https://8.8.8.8/mcp", "https://localhost/", False),
        ("http://8.8.8.8/mcp", "http://8.8.8.8/token", True),
        ("http://8.8.8.8/mcp", "http://8.8.8.8:81/token", False),
        ("http://8.8.8.8/mcp", "https://8.8.8.8/token", True),
        ("https://10.0.0.2/mcp", "https://10.0.0.1/", True),
        ("https://10.0.0.2/mcp", "http://10.0.0.1/", False),
        ("https://10.0.0.2/mcp", "https://127.0.0.1/", False),
        ("http://127.0.0.1:1/mcp", "http://127.0.0.1:2/token", True),
    ],
)
def test_a_login_leads_to_no_network_that_is_more_private_than_its_site(site_url, url, allowed):
    checking = require_allowed(httpx2.URL(site_url), url)
    if allowed:
        asyncio.run(checking)
        return
    with pytest.raises(LoginFailure):
        asyncio.run(checking)


def test_an_answer_of_another_page_is_refused_and_the_login_goes_on():
    wrong = [{"code": "x"}, {"code": "x", "state": ""}, {"code": "x", "state": "guessed"}, {"error": "x", "state": "y"}]
    with login_site(**{"wrong answers": wrong}) as (server, address):
        log_in(address)
        assert stored(address).tokens and server.refused == [400] * len(wrong)


def test_a_redirection_does_not_take_the_token_elsewhere():
    def answer(handler, number):
        handler.answer(number, text("stolen"))

    with site(answer) as (thief, elsewhere), login_site() as (server, address):
        server.call = lambda handler, number: handler.send(307, b"", location=elsewhere.url)
        log_in(address)
        with pytest.raises(AgentError, match="Redirect to .* not followed"):
            look(address)
        assert thief.seen == []


def test_a_token_that_the_site_repeats_is_masked():
    def repeat(handler, number):
        token = handler.headers["authorization"]
        handler.send(400, json.dumps({"error": f"no {token}"}).encode())

    with login_site(repeat) as (_, address):
        log_in(address)
        with pytest.raises(AgentError, match=r"no Bearer \*\*\*"):
            look(address)


def test_a_login_is_found_for_its_own_url_alone():
    with login_site() as (_, address):
        log_in(address)
        for other in (address.url + "/x", address.url.replace("127.0.0.1", "localhost"), address.url + "?a=1"):
            assert stored(replace(address, url=other)).tokens is None
        assert stored(replace(address, url=address.url.replace("http", "HTTP", 1) + "#part")).tokens


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        (b"[", 0o600, "is damaged"),
        (b'{"tokens": 1}', 0o600, "is damaged"),
        (b'{"tokens": {"a": 1}}', 0o600, "is damaged"),
        (b"{}", 0o640, "others may read the login"),
        (b" " * 2_000_000, 0o600, "cannot be read"),
    ],
)
def test_a_login_that_is_damaged_or_that_others_read_is_not_used(tmp_path, content, mode, said):
    with login_site() as (_, address):
        log_in(address)
        (file,) = files(tmp_path)
        file.write_bytes(content)
        file.chmod(mode)
        with pytest.raises((EnvironmentFailure, UsageError), match=said):
            look(address)
