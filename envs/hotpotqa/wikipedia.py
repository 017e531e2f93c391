"""Wikipedia, or any wiki that runs MediaWiki, live: as it is now or as it was at a date."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

from codeplan.envs.hotpotqa.mediawiki import MediaWiki
from codeplan.envs.hotpotqa.paragraphs import extract_paragraphs
from codeplan.envs.hotpotqa.wiki import MAX_SIMILAR_TITLES, SimilarTitles, WikiPage
from codeplan.envs.hotpotqa.wiki_cache import PageRevision, SearchMiss, WikiCache, default_cache_file
from codeplan.errors import EnvironmentFailure, UsageError

WIKIPEDIA_API_URL = "https://en.wikipedia.org/w/api.php"

_NO_TITLE = re.compile(r"[#<>\[\]{}|\x00-\x1f\x7f]")
"""Characters that are in no title."""

_LONGEST_TITLE = 255
_LONGEST_SEARCH = 300


class Wikipedia:
    """The encyclopedia at a MediaWiki API's ``url``, as it was at the end of ``before`` (``YYYY-MM-DD``), or is now.

    A title is found as it is written, through redirects, and otherwise in other capitals. Redirects and searches are
    today's, whatever ``before``. What was read is kept in the file ``cache`` and never asked for again.
    Raises UsageError for settings that do not fit. It connects when it is first searched.
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
                f"the setting url is no address of a MediaWiki API without a login; give one as {WIKIPEDIA_API_URL}"
            )
        if not 0 <= interval <= 3600:
            raise UsageError(f"the setting interval is {interval}; give the seconds between two requests, from 0 up")
        self._api = MediaWiki(url, _checked_contact(contact), interval)
        self._until = {"rvstart": f"{_checked_date(before)}T23:59:59Z"} if before is not None else {}
        self._cache = WikiCache(Path(cache).expanduser() if cache else default_cache_file(), url, before or "")

    def search(self, entity: str) -> WikiPage | SimilarTitles:
        entity = " ".join(entity.encode("utf-8", "replace").decode().split())
        found = self._cache.get_search(entity)
        if found is None:
            found = self._found(entity)
            self._cache.save_search(entity, found)
        return (
            SimilarTitles(found.titles) if isinstance(found, SearchMiss) else WikiPage(found.title, self._text(found))
        )

    def close(self) -> None:
        self._api.close()
        self._cache.close()

    def _found(self, entity: str) -> PageRevision | SearchMiss:
        if not entity:
            return SearchMiss(())
        page = self._located(entity)
        if page is None and _may_be_title(entity):
            near = self._titles(entity, most=1, srwhat="nearmatch")
            page = self._located(near[0]) if near and near[0] != entity else None
        return page or SearchMiss(self._titles(entity, most=MAX_SIMILAR_TITLES))

    def _located(self, title: str) -> PageRevision | None:
        """The article of this title, in the revision that is wanted; None where there is none."""
        if not _may_be_title(title):
            return None
        wanted = {"prop": "revisions", "rvprop": "ids", "rvlimit": "1", **self._until}
        pages = self._api.request(action="query", titles=title, redirects="1", **wanted).query.pages
        page = next((p for p in pages if p.ns == 0 and p.revisions), None)
        return PageRevision(page.title, page.revisions[0].revid) if page else None

    def _titles(self, entity: str, most: int, **how: str) -> tuple[str, ...]:
        searched = {"srsearch": entity[:_LONGEST_SEARCH], "srlimit": str(most), "srprop": "", **how}
        hits = self._api.request(action="query", list="search", **searched).query.search
        return tuple(hit.title for hit in hits[:most])

    def _text(self, page: PageRevision) -> str:
        text = self._cache.get_page(page)
        if text is None:
            reply = self._api.request(action="parse", oldid=str(page.revision), prop="text", disablelimitreport="1")
            if reply.parse is None:
                raise EnvironmentFailure(f"the encyclopedia at {self._api.url} gives no text of {page.title!r}")
            text = extract_paragraphs(reply.parse.text)
            self._cache.save_page(page, text)
        return text


def _may_be_title(text: str) -> bool:
    return len(text.encode()) <= _LONGEST_TITLE and not _NO_TITLE.search(text)


def _checked_contact(contact: str | None) -> str:
    if not contact or not re.fullmatch(r"[!-~]*[@/.][!-~ ]*", contact):
        raise UsageError(
            f"Wikipedia wants to know who asks, and the setting contact is {contact!r}; give your e-mail address or "
            "the address of a page about you or your project, as in contact=me@example.org"
        )
    return contact


def _checked_date(before: str) -> str:
    try:
        return date.fromisoformat(before).isoformat()
    except ValueError:
        raise UsageError(f"the setting before is {before!r}; give a day as in 2017-10-01") from None
