"""Packs a run or a study: inputs, results, figures, versions, checksums, and how to repeat and to cite it."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import platform
import re
import shlex
import tarfile
import tempfile
import zipfile
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING

from odonata import files
from odonata.archive.cite import citations
from odonata.archive.commands import FIGURES, INPUTS, RESULTS, figure_command, repeat_command, run_command
from odonata.archive.inputs import staged
from odonata.store.engine import fingerprint
from odonata.study.folder import is_study_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS = (".tar.gz", ".zip")
LOCK, SUMS = "lock.json", "SHA256SUMS"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of all files, the first that ZIP can say: the same contents are the same bytes."""
_README = """\
# {title}

{what} of Odonata {version} (engine `{engine}`), with all that is needed to repeat it.

Repeat it, and compare with these results, in one command:

```
pip install -r requirements.txt
odonata archive --check .
```

| here | what |
|---|---|
| `inputs/{main}` | the {kind}, with the files that it names |
| `results/` | what it gave; `odonata report results` shows it, `odonata show columns` explains the tables |
| `figures/` | pictures of it, with their commands in `lock.json` |
| `lock.json` | versions, ids of the runs, commands |
| `SHA256SUMS` | checksums of all files: `sha256sum -c SHA256SUMS` |
| `datacite.json`, `citation.bib`, `CITATION.cff` | how to cite it |

By hand, in this folder:

```
{commands}
```

The same engine gives the same bytes on every machine, at any number of threads. Another version of Odonata may give
other results; `CHANGELOG.md` of Odonata says which. Figures have the same bytes with the same version of Matplotlib.
"""


def make(
    folder: Path, out: Path, *, near: Path | None, plots: Sequence[str], title: str, authors: Sequence[str], year: int
) -> list[str]:
    """Packs `folder` into `out`: a new folder, or a file that ends in .tar.gz or .zip. Returns the names of its files.

    `plots` are options of `odonata plot`, one text for each figure. Raises InputError if the inputs are not found, or
    if an archive cannot have the options.
    """
    kind = "study" if is_study_folder(folder) else "scenario"
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary) / "archive"
        (root / INPUTS).mkdir(parents=True)
        inputs = staged(folder, near, root / INPUTS)
        _copy_results(folder, root / RESULTS)
        drawn = [_draw(root, number, options) for number, options in enumerate(plots, 1)]
        commands = [shlex.join(repeat_command(kind, inputs.main, alone=inputs.alone)), *drawn]
        ids = hashlib.sha256("\n".join(inputs.ids).encode()).hexdigest()
        made = version("odonata")
        lock = {
            "format": 1,
            "title": title,
            "kind": kind,
            "main": inputs.main,
            "alone": inputs.alone,
            "relative": inputs.relative,
            "odonata": made,
            "engine": _engine(folder),
            "python": platform.python_version(),
            "packages": _packages(),
            "ids": list(inputs.ids),
            "ids_sha256": ids,
            "commands": commands,
        }
        texts = {
            LOCK: json.dumps(lock, indent=2) + "\n",
            "requirements.txt": f"odonata=={made}\n" + "".join(f"{name}=={of}\n" for name, of in _packages().items()),
            "README.md": _README.format(
                title=title, what="Runs of a study" if kind == "study" else "A run", version=made,
                engine=lock["engine"], main=inputs.main, kind=kind, commands="\n".join(commands),
            ),
            **citations(title, title, authors, year, made, ids),
        }  # fmt: skip
        for name, text in texts.items():
            (root / name).write_text(text, encoding="utf-8")
        names = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
        sums = "".join(f"{files.sha256_of(root / name)}  {name}\n" for name in names)
        (root / SUMS).write_text(sums, encoding="utf-8")
        names = sorted([*names, SUMS])
        _write(root, names, out)
    return names


def _draw(root: Path, number: int, options: str) -> str:
    command = figure_command(number, options)
    (root / FIGURES).mkdir(exist_ok=True)
    run_command(command, root)
    return shlex.join(command)


def _copy_results(folder: Path, target: Path) -> None:
    """The files that the manifest lists, and the manifest; no reports, no pictures, no parts of a sweep."""
    target.mkdir()
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    listed = ["manifest.json", *manifest["files"]]
    for name in listed:
        (target / name).write_bytes((folder / name).read_bytes())


def _engine(folder: Path) -> str:
    return str(json.loads((folder / "manifest.json").read_text(encoding="utf-8")).get("engine", fingerprint()))


def _packages() -> dict[str, str]:
    """Versions of the packages that Odonata needs, and of what draws."""
    named = [re.split(r"[^A-Za-z0-9_.-]", line)[0] for line in requires("odonata") or () if "extra ==" not in line]
    known: dict[str, str] = {}
    for name in sorted({*named, "matplotlib", "pillow"}):
        try:
            known[name] = version(name)
        except PackageNotFoundError:
            continue
    return known


def _write(root: Path, names: Sequence[str], out: Path) -> None:
    if not out.name.endswith(KINDS):
        for name in names:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            files.write(out / name, (root / name).read_bytes())
        return
    top = out.name.removesuffix(".zip").removesuffix(".tar.gz")
    made = io.BytesIO()
    if out.suffix == ".zip":
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
            for name in names:
                entry = zipfile.ZipInfo(f"{top}/{name}", _EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                packed.writestr(entry, (root / name).read_bytes())
    else:
        with (
            gzip.GzipFile(fileobj=made, mode="wb", mtime=0, filename="") as zipped,
            tarfile.open(fileobj=zipped, mode="w") as tar,
        ):
            for name in names:
                data = (root / name).read_bytes()
                item = tarfile.TarInfo(f"{top}/{name}")
                item.size, item.mode, item.mtime = len(data), 0o644, 0
                tar.addfile(item, io.BytesIO(data))
    files.write(out, made.getbuffer())
