"""The line of every key of a TOML document.

`tomllib` gives the data and forgets where it stood. This scanner goes over a text that `tomllib`
has accepted and notes lines only; it therefore need not check anything and stays short.
"""

import tomllib

Path = tuple[str | int, ...]


def lines(text: str) -> dict[Path, int]:
    """Line (from 1) of every key, table header and array element of a valid TOML text.

    The keys are paths such as `("job", 0, "app", "message")`. A table that is named only as part of
    a longer name (`a` in `[a.b]`) stands where that name first stands.
    """
    return _Scanner(text.replace("\r\n", "\n")).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.line = 1
        self.lines: dict[Path, int] = {}
        self.elements: dict[Path, int] = {}  # number of elements of each array of tables

    def scan(self) -> dict[Path, int]:
        table: Path = ()
        while self._skip_blank():
            if self._peek("[["):
                self._advance(2)
                *outer, last = self._key()
                array = (*self._table(outer), last)
                self.lines.setdefault(array, self.line)
                index = self.elements.get(array, 0)
                self.elements[array] = index + 1
                table = (*array, index)
                self.lines[table] = self.line
                self._skip_to_line_end()
            elif self._peek("["):
                self._advance(1)
                table = self._table(self._key())
                self._skip_to_line_end()
            else:
                self._pair(table)
        return self.lines

    def _table(self, key: list[str]) -> Path:
        """Path of the table that a header names: an array of tables means its last element."""
        path: Path = ()
        for part in key:
            path = (*path, part)
            self.lines.setdefault(path, self.line)
            if path in self.elements:
                path = (*path, self.elements[path] - 1)
        return path

    def _pair(self, table: Path) -> None:
        path = table
        for part in self._key():
            path = (*path, part)
            self.lines.setdefault(path, self.line)
        self._skip_blank()
        self._advance(1)  # the equals sign
        self._skip_blank()
        self._value(path)

    def _value(self, path: Path) -> None:
        if self._peek("["):
            self._advance(1)
            index = 0
            while self._skip_blank() and not self._peek("]"):
                self.lines[*path, index] = self.line
                self._value((*path, index))
                index += 1
                self._skip_comma()
            self._advance(1)
        elif self._peek("{"):
            self._advance(1)
            while self._skip_blank() and not self._peek("}"):
                self._pair(path)
                self._skip_comma()
            self._advance(1)
        elif self._peek('"') or self._peek("'"):
            self._string()
        else:
            while self.at < len(self.text) and self.text[self.at] not in ",]}#\n":
                self.at += 1

    def _key(self) -> list[str]:
        """A dotted key; ends before the `=` or `]` that follows it."""
        parts = []
        while True:
            self._skip_spaces()
            start = self.at
            if self._peek('"') or self._peek("'"):
                self._string()
                parts.append(tomllib.loads(f"x = {self.text[start : self.at]}")["x"])
            else:
                while self.text[self.at].isalnum() or self.text[self.at] in "-_":
                    self.at += 1
                parts.append(self.text[start : self.at])
            self._skip_spaces()
            if not self._peek("."):
                return parts
            self._advance(1)

    def _string(self) -> None:
        quote = self.text[self.at]
        mark = quote * 3 if self._peek(quote * 3) else quote
        self._advance(len(mark))
        while not self._peek(mark):
            self._advance(2 if quote == '"' and self._peek("\\") else 1)
        self._advance(len(mark))
        if len(mark) == 3:
            while self._peek(quote):  # up to two quotes more belong to the text
                self._advance(1)

    def _skip_comma(self) -> None:
        self._skip_blank()
        if self._peek(","):
            self._advance(1)

    def _skip_blank(self) -> bool:
        """Skips spaces, line ends and comments; whether anything follows."""
        while self.at < len(self.text):
            if self.text[self.at] in " \t\n":
                self._advance(1)
            elif self.text[self.at] == "#":
                self._skip_to_line_end()
            else:
                return True
        return False

    def _skip_spaces(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1

    def _skip_to_line_end(self) -> None:
        while self.at < len(self.text) and self.text[self.at] != "\n":
            self.at += 1

    def _peek(self, what: str) -> bool:
        return self.text.startswith(what, self.at)

    def _advance(self, count: int) -> None:
        self.line += self.text.count("\n", self.at, self.at + count)
        self.at += count
