"""A predictor and its predictions as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.prediction.train import MEDIAN, ONLY_B, OURS
from odonata.text import Table, columns
from odonata.text.numbers import digits, fixed, time, unit_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.prediction.predictor import Prediction, Predictor


def of_predictor(predictor: Predictor) -> str:
    """What it learnt from, and how well it did on the held-out runs."""
    report = predictor.report
    terms = ", ".join(" x ".join(term.of) for term in predictor.chance.terms)
    lines = [
        f"{predictor.runs:,} runs, {len(predictor.histories):,} jobs with a history "
        f"({', '.join(predictor.history_of) or 'all runs together'}); "
        f"the tail begins at the {predictor.tail:g} quantile of each",
        f"learnt from: {terms}",
    ]
    if predictor.left_out:
        lines.append(f"too few runs for: {', '.join(predictor.left_out)} (ten in the tail for each)")
    lines += [f"left out: {many:,} rows: {why}" for why, many in report["rows_left_out"].items()]
    lines += ["", *_scores(report)]
    return "\n".join(lines)


def _scores(report: Mapping[str, Any]) -> list[str]:
    if "scores" not in report:
        return [f"not checked: {report['why']}"]
    lines = [
        f"held out: the last {report['held_out_runs']:,} runs, {fixed(report['tail_held_out'], '.1%')} of them in the "
        f"tail ({fixed(report['tail_earlier'], '.1%')} of the {report['earlier_runs']:,} earlier ones)"
    ]
    if without := report["held_out_without_history"]:
        lines.append(f"{without:,} more belong to jobs with too few earlier runs, and are not compared")
    names = ["predicted from", "Brier", "flags from", "flagged", "recall", "precision", "below the 0.9 quantile"]
    rows = []
    for name in (OURS, ONLY_B, MEDIAN):
        of = report["scores"][name]
        rows.append(
            [
                name,
                f"{of['brier']:.4f}",
                fixed(of["flag_from"], ".1%"),
                f"{of['flagged']:,}",
                fixed(of["recall"], ".1%"),
                fixed(of["precision"], ".1%"),
                fixed(of["quantiles"].get("0.9", {}).get("below"), ".1%") if name != MEDIAN else "-",
            ]
        )
    lines += ["", *Table(columns(names), rows).lines(), ""]
    for name in (MEDIAN, ONLY_B):
        of = report["against"][name]
        low, high = of["interval"]
        clear = "better" if high < 0 else "worse" if low > 0 else "not clearly different"
        lines.append(f"Brier score against {name}: {of['brier_less']:+.4f} (95 %: {low:+.4f} to {high:+.4f}), {clear}")
    rows = [
        [
            f"{bin_['low']:.0%} to {bin_['high']:.0%}".replace("%", " %"),
            f"{bin_['runs']:,}",
            fixed(bin_["forecast"], ".1%"),
            fixed(bin_["observed"], ".1%"),
            " to ".join(fixed(end, ".1%") for end in bin_["interval"]),
        ]
        for bin_ in report["reliability"]
    ]
    head = columns(["probability", "runs", "predicted", "in the tail", "95 %"])
    return [*lines, "", *Table(head, rows).lines()]


def of_prediction(prediction: Prediction, known: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    """The probability and the quantiles of a run."""
    told = ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in known.items()
    )
    unit, factor = unit_of([prediction.median_ps])
    flag = "flagged" if prediction.flagged else "not flagged"
    lines = [
        told,
        f"probability of the tail, above {time(prediction.threshold_ps)}: {fixed(prediction.probability, '.1%')} "
        f"({fixed(prediction.usual, '.1%')} of the history of {prediction.history_runs:,} runs); {flag}",
    ]
    if prediction.quantiles_ps:
        rows = [[f"{q:g}", digits(value, factor)] for q, value in prediction.quantiles_ps.items()]
        lines += ["", *Table(columns(["quantile", f"time ({unit})"]), rows).lines()]
    lines += [f"warning: {warning}" for warning in prediction.warnings]
    against = report.get("against", {}).get(MEDIAN)
    if against is None or against["interval"][1] >= 0:
        lines.append("warning: on held-out runs the predictor was not clearly better than the share of the history")
    return "\n".join(lines)
