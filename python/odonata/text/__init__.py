"""Numbers and tables as text, for the screen and for notebooks."""

from odonata.text.numbers import digits, fixed, four_digits, time, unit_of
from odonata.text.table import Column, Table, aligned, columns, html, terminal_width

__all__ = [
    "Column",
    "Table",
    "aligned",
    "columns",
    "digits",
    "fixed",
    "four_digits",
    "html",
    "terminal_width",
    "time",
    "unit_of",
]
