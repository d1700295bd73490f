"""The texts of an HTML page, by a parser that checks that its elements are nested."""

from html.parser import HTMLParser
from typing import Final

EMPTY: Final = ("meta", "br", "input")


class Page(HTMLParser):
    """The texts of a page, and its elements; each must be closed where it should."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.data = ""
        """What its script draws, as JSON."""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] not in {"style", "script"}:
            self.text += data
        elif self._open and self.tags[-1][1].get("id") == "data":
            self.data += data

    @property
    def flat(self) -> str:
        return " ".join(self.text.split())
