"""Papers and sections for the numbers by which code and pages cite them (docs/catalogue.md).

Texts for users name the paper and the section, because a number such as L5 is clear only to readers of the catalogue.
"""

from __future__ import annotations

import re
from typing import Any

PAPERS = {"K": "Kang 2019", "D": "De Sensi 2019", "L": "Zhang 2018", "V": "Salimi Beni 2022"}
"""The paper for each letter."""

PLACES: dict[str, str] = {
    "K1": "2.1",
    "K2": "2.1, equations 1 to 3",
    "K3": "2.1",
    "K4": "3.1.1",
    "K5": "3.1.2",
    "K6": "3.1.2",
    "K7": "3.1.2",
    "K8": "3.1.2",
    "K9": "3.1.3, code",
    "K10": "equation 4, table 1",
    "K11": "3.3, code",
    "K12": "table 1",
    "K13": "3.4.1",
    "K14": "3.4.1, code",
    "K15": "3.4.1, code",
    "K16": "3.4.1, code",
    "K17": "3.4.1",
    "K18": "3.4.2",
    "K19": "table 2",
    "K20": "4, 4.4",
    "K21": "4, 4.4",
    "K22": "figure 8",
    "K30": "figure 5",
    "K31": "figure 5",
    "K32": "figure 5",
    "K33": "figure 5",
    "K34": "figure 5",
    "K35": "figure 5",
    "K36": "figure 5",
    "K37": "figure 6",
    "K38": "figure 6",
    "K39": "figure 6",
    "K40": "figure 6",
    "K41": "figures 7, 8",
    "K42": "figures 7, 8",
    "K43": "figures 7, 8",
    "K44": "figures 7, 8",
    "K50": "figure 9",
    "K51": "figure 9",
    "K52": "figure 10",
    "K53": "figure 10",
    "K54": "5",
    "D1": "2.1",
    "D2": "2.1",
    "D3": "2.1",
    "D4": "2.1, CODES",
    "D5": "2.1",
    "D6": "2.2",
    "D7": "2.2",
    "D8": "2.2",
    "D9": "2.3; 2.4, equation 2",
    "D10": "2.4",
    "D11": "2.3; 2.4, equation 2",
    "D12": "2.4",
    "D13": "4.2",
    "D14": "4.2",
    "D15": "4.2",
    "D17": "3.3",
    "D18": "3.3",
    "D19": "3.1, figure 3; 5.1",
    "D21": "3.3, figures 4 and 5",
    "D22": "4.1, figure 7",
    "D24": "5.1, figure 8",
    "D25": "abstract, 5.1",
    "D26": "5.1, figure 8",
    "D27": "5.1",
    "D28": "5.2, figure 10",
    "D23": "3.1, figure 3; 5.1",
    "L1": "table I",
    "L2": "code",
    "L3": "table I, code",
    "L4": "code",
    "L5": "V-B, code",
    "L6": "III-B, code",
    "L7": "III-B, code",
    "L8": "III-B, code",
    "L9": "IV",
    "L10": "IV, code",
    "L11": "IV, code",
    "L12": "IV, VI-F, code",
    "L13": "V-C, code",
    "L14": "V-C, VI-B",
    "L15": "V-C, VI-B",
    "L16": "VI-D, figure 9",
    "L17": "V-C, VI-E",
    "L18": "V-C, code",
    "L19": "figures 5, 6",
    "L20": "V-C, VI-D",
    "L30": "III-A, figure 2",
    "L31": "VI-A, figure 4",
    "L32": "VI-A, figure 4",
    "L33": "VI-A, VI-B, VI-C",
    "L34": "VI-A, VI-B, VI-C",
    "L35": "VI-A, figures 5, 6",
    "L36": "VI-B, figure 7",
    "L37": "VI-C, figure 8",
    "L38": "VI-D, figure 10",
    "L39": "VI-D, figure 10",
    "L40": "VI-E, figure 11",
    "L41": "VI-F, figures 12, 13",
    "L42": "VI-E",
    "V1": "3, 4.1",
    "V2": "3.3, table 1",
    "V3": "3.3",
    "V4": "4.1; 3.3",
    "V5": "4",
    "V6": "1.1, figure 1",
    "V7": "4.1, figure 3",
    "V8": "4.2, equation 1",
    "V9": "4.2, equation 2",
    "V10": "4.2",
    "V11": "5.2, figure 4",
    "V12": "5.2, figure 4",
    "V13": "5.3, figure 5",
    "V14": "5.4, figure 6",
    "V15": "5.4",
    "V16": "6",
    "V17": "abstract, 7",
    "V18": "4.1",
}
"""The section or figure of each number in its paper, from the catalogue."""

_CITED = re.compile(r"\b([KDLV])([1-9][0-9]?)\b(?:(?: to |-)\1([1-9][0-9]?)\b)?")
_NAMED = re.compile(
    rf"((?:{'|'.join(PAPERS.values())})[^();]*) \([KDLV][1-9][0-9]?(?:(?:, | to |-| and )[KDLV][1-9][0-9]?)*\)"
)
"""A paper that is named already, with a number in brackets behind it."""
_SECTION = re.compile(r"(?=\d|[IVX]+\b)")


def cited(found: Any) -> Any:
    """Texts with papers and sections in the place of numbers; also those in lists and tables."""
    if isinstance(found, str):
        return _CITED.sub(_written_out, _NAMED.sub(r"\1", found))
    if isinstance(found, dict):
        return {key: cited(value) for key, value in found.items()}
    return [cited(value) for value in found] if isinstance(found, list | tuple) else found


def _written_out(match: re.Match[str]) -> str:
    letter, *numbers = match.groups()
    places = [PLACES.get(letter + number) for number in numbers if number]
    if None in places:
        return match[0]  # something else, such as a name
    sections = " to ".join(
        dict.fromkeys(f"section {place}" if _SECTION.match(str(place)) else str(place) for place in places)
    )
    return f"{PAPERS[letter]}, {sections}"
