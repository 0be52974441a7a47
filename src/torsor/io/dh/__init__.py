"""Denavit–Hartenberg tables: as rows (here), and as files (:mod:`torsor.io.dh.files`)."""

from torsor.io.dh.table import DHRow, from_dh

__all__ = ["DHRow", "from_dh"]
