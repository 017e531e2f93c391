"""Live Wikipedia, or any other MediaWiki, in its current state or as of a date."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

from codeplan.envs.hotpotqa.mediawiki import MediaWiki
from codeplan.envs.hotpotqa.paragraphs import extract_paragraphs
from codeplan.envs.hotpotqa.wiki import MAX_SIMILAR_TITLES, SimilarTitles, WikiPage
from codeplan.envs.hotpotqa.wiki_cache import PageRevision, SearchMiss, WikiCache, default_cache_file
from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.untrusted.values import in_quotes

WIKIPEDIA_API_URL = "https://en.wikipedia.org/w/api.php"

_FORBIDDEN_IN_TITLES = re.compile(r"[#<>\[\]{}|\x00-\x1f\x7f]")
_MAX_TITLE_BYTES = 255
_MAX_SEARCH_CHARACTERS = 300


class Wikipedia:
    """The encyclopedia at a MediaWiki API's ``url``, as of the end of ``before`` (``YYYY-MM-DD``) if given.

    Titles are matched exactly, through redirects, and otherwise regardless of case. Redirects and search results are
    always current. The file ``cache`` keeps everything that was read. The first search opens the connection.

    Raises: UsageError if a setting is invalid.
    """

    def __init__(
        self,
        *,
        contact: str | None,
        before: str | None = None,
        cache: str | None = None,
        url: str = WIKIPEDIA_API_URL,
        interval: float = 0.5,
    ) -> None:
        if not re.match(r"https?://[^/@]+/[^@]*$", url):
            raise UsageError(
                f"the setting url must be a MediaWiki API's address without a login, such as {WIKIPEDIA_API_URL}"
            )
        if not 0 <= interval <= 3600:
            raise UsageError(f"the setting interval is {interval}; give the seconds between requests, from 0 to 3600")
        self._api = MediaWiki(url, _check_contact(contact), interval)
        self._until = {"rvstart": f"{_check_date(before)}T23:59:59Z"} if before is not None else {}
        self._cache = WikiCache(Path(cache).expanduser() if cache else default_cache_file(), url, before or "")

    def search(self, entity: str) -> WikiPage | SimilarTitles:
        entity = " ".join(entity.encode("utf-8", "replace").decode().split())
        found = self._cache.get_search(entity)
        if found is None:
            found = self._search_online(entity)
            self._cache.save_search(entity, found)
        if isinstance(found, SearchMiss):
            return SimilarTitles(found.titles)
        return WikiPage(found.title, self._page_text(found))

    def close(self) -> None:
        self._api.close()
        self._cache.close()

    def _search_online(self, entity: str) -> PageRevision | SearchMiss:
        if not entity:
            return SearchMiss(())
        page = self._find_revision(entity)
        if page is None and _may_be_title(entity):
            near = self._search_titles(entity, limit=1, srwhat="nearmatch")
            page = self._find_revision(near[0]) if near and near[0] != entity else None
        return page or SearchMiss(self._search_titles(entity, limit=MAX_SIMILAR_TITLES))

    def _find_revision(self, title: str) -> PageRevision | None:
        """The wanted revision of the article with this title; None if there is none."""
        if not _may_be_title(title):
            return None
        wanted = {"prop": "revisions", "rvprop": "ids", "rvlimit": "1", **self._until}
        pages = self._api.request(action="query", titles=title, redirects="1", **wanted).query.pages
        page = next((p for p in pages if p.ns == 0 and p.revisions), None)
        return PageRevision(page.title, page.revisions[0].revid) if page else None

    def _search_titles(self, entity: str, limit: int, **options: str) -> tuple[str, ...]:
        query = {"srsearch": entity[:_MAX_SEARCH_CHARACTERS], "srlimit": str(limit), "srprop": "", **options}
        hits = self._api.request(action="query", list="search", **query).query.search
        return tuple(hit.title for hit in hits[:limit])

    def _page_text(self, page: PageRevision) -> str:
        text = self._cache.get_page(page)
        if text is None:
            reply = self._api.request(action="parse", oldid=str(page.revision), prop="text", disablelimitreport="1")
            if reply.parse is None:
                raise EnvironmentFailure(
                    f"the encyclopedia at {self._api.url} gives no text of {in_quotes(page.title)}"
                )
            text = extract_paragraphs(reply.parse.text)
            self._cache.save_page(page, text)
        return text


def _may_be_title(text: str) -> bool:
    return len(text.encode()) <= _MAX_TITLE_BYTES and not _FORBIDDEN_IN_TITLES.search(text)


def _check_contact(contact: str | None) -> str:
    if not contact or not re.fullmatch(r"[!-\-0-?A-~]*[@/.][!-~ ]*", contact):
        raise UsageError(
            f"Wikipedia requires a contact, and the setting contact is {in_quotes(contact)}; give your e-mail address "
            "or the address of a page about you or your project, as in contact=me@example.org"
        )
    return contact


def _check_date(before: str) -> str:
    try:
        return date.fromisoformat(before).isoformat()
    except ValueError:
        raise UsageError(f"the setting before is {in_quotes(before)}; give a day as in 2017-10-01") from None
