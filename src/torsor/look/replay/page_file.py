"""The path of a replay page, which a notebook shows as the page itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from torsor.support.html import LARGEST_PAGE, element, page_frame

if TYPE_CHECKING:
    _Path = Path
else:
    _Path = type(Path())  # PosixPath or WindowsPath


class ReplayPage(_Path):
    """The path of a replay page: a Path, printed as an address to open, and shown as the page in a notebook."""

    def with_segments(self, *parts: Any) -> Path:
        """Paths derived from this one are plain paths (Python 3.12)."""
        return Path(*parts)

    def __repr__(self) -> str:
        return f"<Replay page {self.absolute().as_uri()}>" if self.suffix == ".html" else super().__repr__()

    def _repr_html_(self) -> str | None:
        if self.suffix != ".html" or not self.is_file():
            return None
        link = element("p", "Replay page: ", element("a", str(self), href=self.absolute().as_uri()))
        if self.stat().st_size > LARGEST_PAGE:
            return element("div", link)
        return element("div", page_frame(self.read_text("utf-8"), f"Replay page {self.name}"), link)
