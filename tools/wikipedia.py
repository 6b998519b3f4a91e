"""Wikipedia through MediaWiki's action API: the same search and lookup as offline, on the whole encyclopedia."""

from __future__ import annotations

import json
import re
import time
from typing import Any

from tools.observation import ToolFailure
from tools.pages import first_sentences, lookup, not_found
from tools.tool import Tool, ToolError, tool

SECONDS = 10.0
MAX_BYTES = 2_000_000
MAX_REDIRECTS = 3
MAX_TITLE = 255
"""Bytes a title may have in MediaWiki."""
SIMILAR = 5
AGENT = "reasonact/0.1 (https://github.com/reasonact/reasonact)"

_LANGUAGE = re.compile(r"[a-z]{2,12}(-[a-z]{2,12}){0,2}")
# A bar or U+001F would make several titles of one, and the others cannot stand in a title.
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f|#<>\[\]{}]+")


class Wikipedia:
    """The action API of one MediaWiki site."""

    def __init__(self, language: str = "en", url: str | None = None) -> None:
        if url is None and not _LANGUAGE.fullmatch(language):
            raise ToolError(f"language must be a Wikipedia's code such as en or zh, got {language!r}")
        self.url = url or f"https://{language}.wikipedia.org/w/api.php"

    def text(self, title: str, *, beginning: bool = False) -> str | None:
        """The plain text of a page, or of its introduction; None where no page with one meaning has that title."""
        asked = {"prop": "extracts|pageprops", "explaintext": "1", "redirects": "1", "ppprop": "disambiguation"}
        answer = self._ask(titles=_title(title), **asked, **({"exintro": "1"} if beginning else {}))
        pages = answer.get("pages")
        page = pages[0] if isinstance(pages, list) and pages and isinstance(pages[0], dict) else {}
        if "disambiguation" in (page.get("pageprops") or {}):
            return None
        text = page.get("extract")
        return text if isinstance(text, str) and text.strip() else None

    def similar(self, query: str) -> list[str]:
        """Titles that the site's own search gives for a query."""
        answer = self._ask(list="search", srsearch=query.strip()[:MAX_TITLE], srlimit=str(SIMILAR), srprop="")
        hits = answer.get("search")
        titles = [hit.get("title") for hit in hits if isinstance(hit, dict)] if isinstance(hits, list) else []
        return [title for title in titles if isinstance(title, str)]

    def _ask(self, **params: str) -> dict[str, Any]:
        """One query, answered by an object; every fault is a `ToolFailure` that names no address."""
        import httpx2

        asked = {"action": "query", "format": "json", "formatversion": "2", "utf8": "1", **params}
        settings: Any = {"timeout": SECONDS, "max_redirects": MAX_REDIRECTS}
        try:
            with (
                httpx2.Client(headers={"User-Agent": AGENT}, follow_redirects=True, **settings) as client,
                client.stream("GET", self.url, params=asked) as response,
            ):
                _refuse(response.status_code)
                body = _bounded(response.iter_bytes())
        except httpx2.TimeoutException as error:
            raise ToolFailure("Wikipedia took too long to answer; trying again may help") from error
        except httpx2.TooManyRedirects as error:
            raise ToolFailure("Wikipedia redirected too often") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ToolFailure("Wikipedia could not be reached; trying again may help") from error
        return _answer(body)


def _title(title: str) -> str:
    cleaned = _FORBIDDEN.sub(" ", title.encode("utf-8", "replace").decode()).strip()
    if not cleaned:
        raise ToolFailure("the title is empty; give one such as Paris")
    return cleaned.encode()[:MAX_TITLE].decode("utf-8", "ignore")


def _refuse(status: int) -> None:
    if status == 429:
        raise ToolFailure("Wikipedia is asked too often; wait a little before trying again")
    if status != 200:
        raise ToolFailure(f"Wikipedia answered with status {status} instead of a page")


def _bounded(chunks: Any) -> bytes:
    """All of a body within the cap, counted after decompression and within one deadline: a slow drip ends too."""
    body = bytearray()
    deadline = time.monotonic() + SECONDS
    for chunk in chunks:
        body += chunk
        if len(body) > MAX_BYTES:
            raise ToolFailure("the page is too large to read")
        if time.monotonic() > deadline:
            raise ToolFailure("Wikipedia took too long to answer; trying again may help")
    return bytes(body)


def _answer(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ToolFailure("Wikipedia's answer could not be read") from error
    if not isinstance(answer, dict) or "error" in answer:
        raise ToolFailure("Wikipedia refused the request; try another title")
    query = answer.get("query", {})
    return query if isinstance(query, dict) else {}


def wikipedia_tools(language: str = "en", url: str | None = None) -> list[Tool]:
    """`search` and `lookup` over the Wikipedia of a language, or over the MediaWiki whose `api.php` is at `url`.

    Raises:
        ToolError: `language` is not a language's code.
    """
    site = Wikipedia(language, url)

    @tool(effect="egress", idempotent=True, untrusted=True)
    def search(query: str) -> str:
        """Read the beginning of the Wikipedia page with this title, or get similar titles."""
        text = site.text(query, beginning=True)
        return not_found(query.strip()[:MAX_TITLE], site.similar(query)) if text is None else first_sentences(text)

    @tool(name="lookup", effect="egress", idempotent=True, untrusted=True)
    def look_up(keyword: str, page: str, number: int = 1) -> str:
        """Find the sentence with this keyword on a page that search found; number 2 is the next such sentence."""
        text = site.text(page)
        return (
            not_found(page.strip()[:MAX_TITLE], site.similar(page)) if text is None else lookup(text, keyword, number)
        )

    return [search, look_up]
