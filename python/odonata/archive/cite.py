"""How to cite an archive: DataCite's JSON, BibTeX and CITATION.cff."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Sequence

SOFTWARE = "Odonata"


def citations(name: str, title: str, authors: Sequence[str], year: int, version: str, ids: str) -> dict[str, str]:
    """The files of a citation by name. Without authors, those of Odonata are not named instead: it says so."""
    creators = list(authors) or ["(unknown author)"]
    key = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "archive"
    datacite = {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Simulation results"},
        "titles": [{"title": title}],
        "creators": [{"name": author} for author in creators],
        "publisher": {"name": "(repository)"},
        "publicationYear": str(year),
        "alternateIdentifiers": [
            {"alternateIdentifier": ids, "alternateIdentifierType": "SHA-256 of the ids of all runs"}
        ],
        "relatedItems": [
            {
                "relatedItemType": "Software",
                "relationType": "IsCompiledBy",
                "titles": [{"title": f"{SOFTWARE} {version}"}],
            }
        ],
    }
    lines = {
        "author": " and ".join(map(_bibtex, creators)),
        "title": f"{{{_bibtex(title)}}}",
        "year": str(year),
        "note": f"Simulation results of {SOFTWARE} {version}",
    }
    bibtex = "".join(f"  {field} = {{{value}}},\n" for field, value in lines.items())
    cff = {
        "cff-version": "1.2.0",
        "message": f"Cite these data, and {SOFTWARE}, which made them.",
        "type": "dataset",
        "title": title,
        "authors": [{"name": author} for author in creators],
        "references": [
            {
                "type": "software",
                "title": SOFTWARE,
                "version": version,
                "authors": [{"name": f"The {SOFTWARE} authors"}],
            }
        ],
    }
    return {
        "datacite.json": json.dumps(datacite, indent=2, ensure_ascii=False) + "\n",
        "citation.bib": f"@misc{{{key},\n{bibtex}}}\n",
        "CITATION.cff": yaml.safe_dump(cff, sort_keys=False, allow_unicode=True),
    }


def _bibtex(text: str) -> str:
    return re.sub(r"([&%$#_{}])", r"\\\1", text.replace("\\", r"\textbackslash "))
