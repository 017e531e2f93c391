"""Live Wikipedia and its polite client, against a fake MediaWiki server on loopback."""

import email.utils
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from support.mediawiki_server import wiki_server

from codeplan.envs.hotpotqa.wiki import SimilarTitles, WikiPage
from codeplan.envs.hotpotqa.wikipedia import MediaWiki, Wikipedia, extract_paragraphs, parse_retry_after
from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.runner.episodes import run

CONTACT = "tests@example.org"


@pytest.fixture
def server():
    with wiki_server() as running:
        yield running


@pytest.fixture
def wiki(server, tmp_path):
    with closing(wikipedia(server, tmp_path)) as client:
        yield client


def wikipedia(server, folder, **settings):
    file = str(folder / "sub" / "pages.sqlite3")
    return Wikipedia(**{"contact": CONTACT, "cache": file, "url": server.url, "interval": 0.0, **settings})


# ------------------------------------------------------------------ searching


def test_a_page_has_its_paragraphs_then_its_lists_without_references_and_navigation(server, tmp_path):
    with closing(wikipedia(server, tmp_path, before="2017-10-01")) as wiki:
        assert wiki.search("Ada Lovelace") == WikiPage(
            "Ada Lovelace",
            "Ada Lovelace was an English mathematician. She was born in London.\n"
            "She worked with Charles Babbage & others.\n"
            "Notes on the Analytical Engine\n"
            "Note G, a programme",
        )


def test_without_a_date_the_current_revision_is_read(wiki):
    assert wiki.search("Ada Lovelace").text.startswith("Ada Lovelace is known to all.")


@pytest.mark.parametrize(
    ("before", "begins"), [("2016-12-31", "Ada was a countess."), ("2019-12-31", "Ada Lovelace was")]
)
def test_a_date_asks_for_the_last_revision_before_its_end(server, tmp_path, before, begins):
    with closing(wikipedia(server, tmp_path, before=before)) as wiki:
        assert wiki.search("Ada Lovelace").text.startswith(begins)
    assert [a.get("rvstart") for a in server.asked] == [f"{before}T23:59:59Z", None]


def test_a_page_created_later_is_not_found(server, tmp_path):
    with closing(wikipedia(server, tmp_path, before="2017-10-01")) as wiki:
        assert wiki.search("Young page") == SimilarTitles(("Young page",))


@pytest.mark.parametrize("title", ["Countess of Lovelace", "  ada\n lovelace "])
def test_redirects_are_followed_and_titles_found_regardless_of_case_and_spaces(wiki, title):
    assert wiki.search(title).title == "Ada Lovelace"


def test_a_missing_page_offers_what_a_search_finds(wiki):
    assert wiki.search("The planet") == SimilarTitles(("Mercury (planet)",))
    assert wiki.search("qqq") == SimilarTitles(())


@pytest.mark.parametrize("title", ["Talk:Ada Lovelace", "User:Me", "Special:Random"])
def test_only_articles_are_pages(wiki, title):
    assert isinstance(wiki.search(title), SimilarTitles)


@pytest.mark.parametrize("entity", ["", " \n", "a|b", "x" * 10_000, "é" * 200, "[x]", "#", "\ud800", "\0", "a=b&c"])
def test_any_text_can_be_searched_for(wiki, server, entity):
    assert isinstance(wiki.search(entity), SimilarTitles)
    assert all(len(a.get("srsearch", "")) <= 300 and "|" not in a.get("titles", "") for a in server.asked)


# ------------------------------------------------------------------ the cache


def test_pages_in_the_cache_are_never_requested_again(server, tmp_path):
    def read():
        with closing(wikipedia(server, tmp_path)) as wiki:
            return [wiki.search(e) for e in ("Ada Lovelace", "Countess of Lovelace", "The planet", "Mercury (planet)")]

    first, asked = read(), len(server.asked)
    assert read() == first
    assert len(server.asked) == asked


def test_pages_are_kept_by_title_and_revision(server, tmp_path):
    for before in (None, "2016-12-31", "2017-01-01"):
        with closing(wikipedia(server, tmp_path, before=before)) as wiki:
            wiki.search("Ada Lovelace")
            wiki.search("Countess of Lovelace")
    with closing(sqlite3.connect(tmp_path / "sub" / "pages.sqlite3")) as file:
        rows = file.execute("SELECT title, revision FROM pages ORDER BY revision").fetchall()
    assert rows == [("Ada Lovelace", 11), ("Ada Lovelace", 13)]
    assert len([a for a in server.asked if a["action"] == "parse"]) == 2


def test_nothing_is_written_or_requested_before_the_first_search(server, tmp_path):
    with closing(wikipedia(server, tmp_path)):
        assert list(tmp_path.iterdir()) == server.asked == []


def test_a_cache_that_cannot_be_used_is_named(server, tmp_path):
    (tmp_path / "pages").write_bytes(b"this is no database, and it is long enough to tell" * 100)
    for file in (tmp_path / "pages", tmp_path / "pages" / "below", tmp_path):
        with (
            closing(wikipedia(server, tmp_path, cache=str(file))) as wiki,
            pytest.raises(UsageError, match=r"cache of pages .* cannot be used.*; name another, or remove it"),
        ):
            wiki.search("Ada Lovelace")


DAMAGE = (
    'UPDATE searches SET found = \'{"type":"other"}\'',
    'UPDATE searches SET found = \'{"type":"page","title":"Ada Lovelace","revision":9223372036854775808}\'',
    "UPDATE pages SET text = x'4164612077617320612066656c696e652e'",
    "PRAGMA writable_schema = 1; UPDATE sqlite_master SET name = CAST(x'ff' AS TEXT), sql = 'x' WHERE type = 'table'",
)


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_cache_is_refused(server, tmp_path, damage):
    with closing(wikipedia(server, tmp_path)) as wiki:
        wiki.search("Ada Lovelace")
    with closing(sqlite3.connect(tmp_path / "sub" / "pages.sqlite3")) as file:
        file.executescript(damage)
        file.commit()
    with closing(wikipedia(server, tmp_path)) as wiki, pytest.raises(UsageError, match="cannot be used"):
        wiki.search("Ada Lovelace")


# ------------------------------------------------------------------ politeness


def test_the_user_agent_names_the_contact(wiki, server):
    wiki.search("Ada Lovelace")
    assert all(agent.startswith("codeplan/") and f"({CONTACT}) httpx" in agent for agent in server.agents)


def test_a_refused_user_agent_is_reported_with_advice(server, tmp_path):
    with closing(wikipedia(server, tmp_path, contact="example.org")) as wiki:
        with pytest.raises(EnvironmentFailure, match=r"\(403\) the User-Agent 'codeplan/.*; give a contact"):
            wiki.search("Ada Lovelace")
        assert len(server.asked) == 1


def test_it_waits_as_long_as_the_server_asks(wiki, server):
    server.will_answer(429, Retry_After="1")
    assert wiki.search("Ada Lovelace").title == "Ada Lovelace"
    assert 1.0 <= server.at[1] - server.at[0] < 5


def test_it_waits_for_a_lagging_server(wiki, server):
    server.will_answer(
        200, {"error": {"code": "maxlag", "info": "Waiting for 10.64.0.1: 7 seconds lagged"}}, Retry_After="0"
    )
    server.will_answer(503, Retry_After="0")
    assert wiki.search("Ada Lovelace").title == "Ada Lovelace"
    assert server.asked[0]["maxlag"] == "5"


def test_it_gives_up_on_a_busy_server_after_five_requests(wiki, server):
    for _ in range(5):
        server.will_answer(429, Retry_After="0")
    with pytest.raises(EnvironmentFailure, match="still busy after 5 requests"):
        wiki.search("Ada Lovelace")
    assert len(server.asked) == 5


def test_a_server_that_asks_for_a_long_pause_is_not_asked_again(wiki, server):
    server.will_answer(429, Retry_After="3600")
    with pytest.raises(EnvironmentFailure, match="asks for a pause of 3600 seconds"):
        wiki.search("Ada Lovelace")
    assert len(server.asked) == 1


def test_failures_are_not_cached(wiki, server):
    server.will_answer(500)
    with pytest.raises(EnvironmentFailure, match="status 500"):
        wiki.search("Ada Lovelace")
    assert wiki.search("Ada Lovelace").title == "Ada Lovelace"


def test_requests_are_separated_by_the_interval(server, tmp_path):
    with closing(wikipedia(server, tmp_path, interval=0.2)) as wiki:
        wiki.search("qqq")
    assert len(server.at) == 3
    assert all(b - a >= 0.19 for a, b in zip(server.at, server.at[1:], strict=False))


def test_concurrent_episodes_send_one_request_at_a_time(server, tmp_path):
    def read(number):
        with closing(wikipedia(server, tmp_path, cache=str(tmp_path / f"{number}"))) as wiki:
            return wiki.search("ada lovelace").title

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(read, range(6))) == ["Ada Lovelace"] * 6
    assert server.most_at_once == 1


# ------------------------------------------------------------------ untrusted replies


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"<html>", b"null", b"[]", b"{}", b"\xff", b"[" * 200_000),
        b'{"query":3}',
        b'{"query":{"pages":[{"revisions":[{"revid":"x"}]}]}}',
        b'{"query":{"pages":[{"title":"Ada Lovelace","revisions":[{"revid":9223372036854775808}]}]}}',
        b'{"status":"please log in to this network"}',
    ],
)
def test_an_invalid_reply_is_an_error_and_never_a_page(wiki, server, body):
    server.will_answer(200, body)
    with pytest.raises(EnvironmentFailure, match="sends an invalid reply"):
        wiki.search("Ada Lovelace")


def test_an_api_error_is_reported(wiki, server):
    server.will_answer(200, {"error": {"code": "badvalue", "info": "Unrecognized value"}})
    with pytest.raises(EnvironmentFailure, match="badvalue, Unrecognized value"):
        wiki.search("Ada Lovelace")


@pytest.mark.parametrize(("status", "message"), [(301, "status 301"), (404, "status 404; is this the address")])
def test_any_other_status_is_an_error_and_redirects_are_not_followed(wiki, server, status, message):
    server.will_answer(status, Location=server.url)
    with pytest.raises(EnvironmentFailure, match=message):
        wiki.search("Ada Lovelace")
    assert len(server.asked) == 1


def test_an_oversized_reply_is_refused(wiki, server):
    server.will_answer(200, b" " * 17_000_000)
    with pytest.raises(EnvironmentFailure, match="more than 16,000,000 bytes"):
        wiki.search("Ada Lovelace")


def test_an_unreachable_server_is_reported(tmp_path):
    api = MediaWiki("http://127.0.0.1:9/w/api.php", CONTACT, 0.0)
    with closing(api), pytest.raises(EnvironmentFailure, match="cannot be reached: .*check the network"):
        api.request(action="query")


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One two three", "One two three"),
        ("</p></p><p>One two <i>three</p> four", "One two three"),
        ("<ul><li>a b c<li>d e f</ul>", "a b c\nd e f"),
        ("<div class='navbox'><p>a b c</p></div><p>d e f</p>", "d e f"),
        ("<p>a b c<br>d</p>", "a b c d"),
        ("<p>a &lt;b&gt; c</p><!-- x --><p>&#x41; b c</p>", "a <b> c\nA b c"),
        ("<li><p>a b c</p></li>", "a b c"),
        ("<p>a b < c AT&T", "a b < c AT&T"),
        ("<p>a b c</p><!-- <p>d e f</p>", "a b c"),
        ("", ""),
    ],
)
def test_html_of_any_shape_becomes_lines(html, text):
    assert extract_paragraphs(html) == text


def test_deep_and_broken_html_is_parsed_quickly():
    started = time.process_time()
    extract_paragraphs("<div>" * 100_000 + "</p>" * 100_000 + "<p>" * 50_000)
    for begun in ("<!--", "<![CDATA[", "<?", "<!", "</", "<a b='"):
        assert extract_paragraphs("<p>One two three</p>" + begun * 100_000) == "One two three"
    assert time.process_time() - started < 10


def test_retry_after_is_a_number_or_a_date():
    assert [parse_retry_after(text) for text in ("17", "0", "", "soon", "-1")] == [17.0, 0.0, None, None, None]
    assert 50 < parse_retry_after(email.utils.formatdate(time.time() + 60, usegmt=True)) <= 60
    assert parse_retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    for odd in ("Wed, 21 Oct 99999999999999 07:28:00 GMT", "Wed, 21 Oct 2099 07:28:00 -99999999999999999999"):
        assert parse_retry_after(odd) is None


# ------------------------------------------------------------------ episodes


def test_an_episode_reads_live_and_is_resumed_from_the_cache(server, tmp_path):
    settings = {"contact": CONTACT, "url": server.url, "cache": str(tmp_path / "c"), "interval": 0.0, "live": True}
    first = run("hotpotqa", "bridge/2", out=tmp_path / "one", tries=1, **settings)
    asked = len(server.asked)
    again = run("hotpotqa", "bridge/2", out=tmp_path / "two", tries=1, **settings)
    assert asked > 0
    assert len(server.asked) == asked
    assert (first.success, first.actions) == (again.success, again.actions)


def test_httpx_is_not_loaded_before_it_is_needed():
    code = "import sys; from codeplan import envs; envs.make('hotpotqa', live=True, contact='a@b'); sys.exit(any(n.startswith('httpx') for n in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
