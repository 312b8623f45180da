"""A reproduction: the study that is simulated, what its tables are compared with, and the page that says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError, RunError, unknown
from odonata.reproduce.compose import compose
from odonata.reproduce.page_files import as_csv, as_json, read, reduced_of
from odonata.reproduce.provenance import abouts, provenance_now
from odonata.study.python import plan_of
from odonata.study.sweep import sweep
from odonata.study.task import POINT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from odonata.reproduce.page import Page, Texts
    from odonata.reproduce.page_files import Reduced
    from odonata.reproduce.provenance import Provenance
    from odonata.reproduce.rows import Row
    from odonata.study.keep import Keep
    from odonata.study.ledger import Report
    from odonata.study.plan import Make, Plan
    from odonata.study.study import Study
    from odonata.study.sweep import Backend

    Points = list[dict[str, Any]]
    Runs = Sequence[Mapping[str, Any]]
    """For each point its keys and values, the columns of `runs`, and those of `jobs` for the first job (no lists)."""


@dataclass(frozen=True)
class Reproduction:
    """One entry of `odonata reproduce --list`."""

    name: str
    title: str
    points: Callable[[bool], Points]
    """Keys and values of every point, in full (False) or of the reduced form for tests (True); none if nothing is to
    be simulated."""
    make: Make | None
    """A point's scenario; in the table of its runs the first job is the one that is measured. `None` if nothing is to
    be simulated."""
    rows: Callable[[Runs], list[Row]]
    """Ours over theirs for everything that was simulated."""
    text: Page
    """Its page, the same text for the same numbers."""
    explain: Callable[[Sequence[Row]], list[Row]] = list
    """Adds causes that follow from other rows, as from another model that gives the published value."""
    picture: Callable[[Sequence[Row], Runs], Figure | None] | None = None
    """None of runs that are not enough for a picture: the one there is stays."""
    keep: Keep | None = None
    """What is kept of each run beside its jobs."""
    gather: Callable[[bool, int], Runs] | None = None
    """Of one without a study: its data, in full (False) or reduced (True), by so many workers."""
    gather_from: Callable[[bool, int, Path], Runs] | None = None
    """The same with measurements of a folder in place of the packaged ones."""
    study: str = ""
    """Name of its study, if it shares finished runs with other reproductions."""
    model_key: str = "model"
    """The key of a point that names its model."""

    @property
    def of_study(self) -> str:
        """The name of its study."""
        return self.study or self.name

    def chosen(self, reduced: bool, model: str | None = None) -> Points:
        """Its points, or those of one model. Raises InputError if the model has none."""
        points = self.points(reduced)
        if model is None:
            return points
        key = self.model_key
        models = dict.fromkeys(point[key] for point in points if key in point)
        if model not in models:
            raise unknown("model", model, models)
        return [point for point in points if point[key] == model]

    def plan(self, *, reduced: bool, model: str | None = None) -> Plan | None:
        """Its study, or that of one model; `None` if nothing is to be simulated."""
        points = self.chosen(reduced, model)
        if self.make is None or not points:
            return None
        return plan_of(self.make, points, self.keep, self.of_study)

    def run(
        self,
        backend: Backend,
        folder: Path | None,
        *,
        reduced: bool,
        force: bool = False,
        report: Report | None = None,
        data: Path | None = None,
        model: str | None = None,
    ) -> Runs:
        """Sweeps its study, in the folder `folder` / name of the study, or in memory.

        Raises RunError if a point failed; what was finished is kept. Raises InputError for other measurements (`data`)
        where it has none of its own.
        """
        if data is not None:
            if self.gather_from is None:
                raise InputError(f"`{self.name}` reads no measurements", hint="--data is for those that do")
            return self.gather_from(reduced, backend.workers, data)
        plan = self.plan(reduced=reduced, model=model)
        if plan is None:
            return [] if self.gather is None else self.gather(reduced, backend.workers)
        out = None if folder is None else folder / plan.name
        study = sweep(plan, out, backend, force=force, retry_failed=True, report=report)
        return runs_of(study, self.chosen(reduced, model))

    def made(self, folder: Path | None) -> Provenance:
        """What makes its files now; `folder` is that of studies."""
        simulated = folder is not None and self.make is not None and self.chosen(False)
        return provenance_now(folder / self.of_study if folder is not None and simulated else None)

    def page(self, rows: Sequence[Row], runs: Runs, made: Provenance | None = None) -> str:
        """The section of these rows and runs."""
        rows = self.explain(rows)
        return self.section(rows, self.text.of_runs(rows, runs), made or provenance_now())

    def section(
        self,
        rows: Sequence[Row],
        texts: Texts,
        made: Provenance,
        earlier: Mapping[str, Provenance] | None = None,
        *,
        settings_above: str = "",
    ) -> str:
        """Its section of a page: heading, what made it, and its text; settings that are those of the section above are
        not said again."""
        about = abouts()[self.name]
        words = made.words(about, (row.model for row in rows), earlier, settings_above)
        return f"## {about.heading}\n\n{words}\n\n{self.text.render(rows, texts, about.page)}"

    def publish(
        self,
        rows: Sequence[Row],
        runs: Runs,
        folder: Path,
        *,
        reduced: bool,
        made: Provenance | None = None,
        beside: Sequence[Row] | None = None,
    ) -> list[Path]:
        """NAME.csv, NAME.json, its page and, where there is a picture, NAME.png; the reduced form only the .csv, which
        no page is about. `beside` are the rows of the reduced form, which a full page keeps. Returns the files. Raises
        RunError if one cannot be written."""
        made, rows = made or provenance_now(), self.explain(rows)
        if reduced:
            file = folder / f"{self.name}-reduced.csv"
            _write(file, as_csv(rows, made, abouts()[self.name]))
            return [file]
        kept = None if beside is None else reduced_of(beside)
        written = self._publish(rows, self.text.of_runs(rows, runs), folder, made, reduced=kept)
        return [*written, *self._drawn(rows, runs, folder, made)]

    def _drawn(self, rows: Sequence[Row], runs: Runs, folder: Path, made: Provenance) -> list[Path]:
        """NAME.png, where there is a picture."""
        if self.picture is None:
            return []
        from odonata.plot.style import save

        drawn = self.picture(rows, runs)
        if drawn is None:
            return []
        file = folder / f"{self.name}.png"
        save(drawn, file, about=made.mark(self.name))
        return [file]

    def publish_one(
        self,
        model: str,
        rows: Sequence[Row],
        runs: Runs,
        folder: Path,
        made: Provenance,
        beside: Sequence[Row] | None = None,
    ) -> tuple[list[Row], list[Path]]:
        """Its page and rows with new rows of one model; the rows of the others and their texts stay as they are in the
        folder, with what made them. The picture has these rows and the runs of the model. `beside` are the model's rows
        of the reduced form; those of the others stay too.

        Returns the rows and the files. Raises InputError for files that are missing or wrong, RunError if one cannot be
        written.
        """
        kept = read(folder, self.name)
        others = [row for row in kept.rows if row.model != model]
        earlier = {row.model: kept.earlier.get(row.model, kept.made) for row in others}
        # In the order of the rows before, new ones after them.
        order = {(row.id, row.what, row.model): number for number, row in enumerate(kept.rows)}
        merged = sorted([*others, *rows], key=lambda row: order.get((row.id, row.what, row.model), len(order)))
        merged = self.explain(merged)
        texts = {**kept.texts, **self.text.of_runs(rows, runs)}
        reduced = None
        if kept.reduced is not None and beside is not None:
            reduced = [*(row for row in kept.reduced if row[0] != model), *reduced_of(beside)]
        written = self._publish(merged, texts, folder, made, earlier, reduced)
        return merged, [*written, *self._drawn(merged, runs, folder, made)]

    def publish_again(self, folder: Path) -> tuple[list[Row], list[Path]]:
        """Its page and rows from the rows and texts in the folder: the verdicts and words of today on the numbers of
        the runs that made them, whose version, engine and date stay. The picture stays as it is.

        Returns the rows and the files. Raises InputError for files that are missing or wrong, RunError if one cannot be
        written.
        """
        kept = read(folder, self.name)
        rows = self.explain(kept.rows)
        return rows, self._publish(rows, kept.texts, folder, kept.made, kept.earlier, kept.reduced)

    def _publish(
        self,
        rows: Sequence[Row],
        texts: Texts,
        folder: Path,
        made: Provenance,
        earlier: Mapping[str, Provenance] | None = None,
        reduced: Reduced | None = None,
    ) -> list[Path]:
        about = abouts()[self.name]
        self.section(rows, texts, made, earlier)  # a text that cannot be filled leaves all files as they are
        files = [folder / f"{self.name}.{suffix}" for suffix in ("csv", "json")]
        contents = (as_csv(rows, made, about, earlier), as_json(texts, made, earlier, reduced))
        for file, text in zip(files, contents, strict=True):
            _write(file, text)
        page = folder / f"{about.page}.md"
        _write(page, compose(about.page, folder))
        return [*files, page]


def runs_of(study: Study, points: Points) -> Runs:
    """The tables of a study as one, in the order of its points. Raises RunError if a point failed."""
    failed = study.failed
    if failed.height:
        point = {key: value for key, value in points[failed[POINT][0]].items() if isinstance(value, str | int | float)}
        said = ", ".join(f"{key} = {value}" for key, value in point.items())
        raise RunError(f"{failed.height} of {len(points)} points failed; {said}: {failed['error'][0]}")
    jobs = study.jobs.filter(study.jobs["job"] == 0)
    of_jobs = [name for name, kind in jobs.schema.items() if not kind.is_nested() and name not in study.runs.columns]
    table = study.runs.join(jobs.select(POINT, *of_jobs), on=POINT, how="left", maintain_order="left")
    return [{**row, **point} for row, point in zip(table.iter_rows(named=True), points, strict=True)]


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise RunError(f"cannot write `{file}`: {problem.strerror or problem}") from problem
