"""Fits of samples whose distribution is known, and the processes that make them."""

import numpy as np
import pytest
from scipy import stats

from odonata.analysis import fits
from odonata.analysis.fit import NoFitError, density, fit
from odonata.analysis.fits import fit_all
from odonata.errors import InputError, RunError

#: Cheap families of many shapes.
SOME = [
    *("cauchy", "expon", "gamma", "genextreme", "gumbel_l", "gumbel_r", "invgauss", "laplace", "logistic", "lognorm"),
    *("norm", "pareto", "rayleigh", "t", "uniform", "weibull_min"),
]

#: Drawn distribution -> families that are equal to it, or contain it as a special case or a limit.
KNOWN = {
    "norm": (stats.norm(50, 3), {"norm", "t", "weibull_min", "gamma", "lognorm", "invgauss", "genextreme"}),
    "expon": (stats.expon(10, 4), {"expon", "gamma", "weibull_min"}),
    "lognorm": (stats.lognorm(0.8, 5, 2), {"lognorm"}),
    "gamma": (stats.gamma(2, 3, 7), {"gamma", "invgauss"}),
    "weibull_min": (stats.weibull_min(2.5, 1, 4), {"weibull_min"}),
    "gumbel_r": (stats.gumbel_r(20, 3), {"gumbel_r", "genextreme"}),
    "uniform": (stats.uniform(10, 5), {"uniform"}),
    "laplace": (stats.laplace(100, 5), {"laplace"}),
    "pareto": (stats.pareto(3, 0, 2), {"pareto", "genextreme"}),
}


@pytest.mark.parametrize("name", KNOWN)
def test_the_family_of_a_sample_or_an_equivalent_one_is_first(name):
    drawn, equivalent = KNOWN[name]
    values = drawn.rvs(1500, random_state=3)
    fitted = {}
    for family in SOME:
        try:
            fitted[family] = fit(family, values)
        except NoFitError:
            continue
    assert min(fitted.values(), key=lambda candidate: candidate.aic).family in equivalent
    assert fitted[name].aic - min(candidate.aic for candidate in fitted.values()) < 10
    assert fitted[name].ks < 1.36 / 1500**0.5
    expected = drawn.pdf(drawn.mean())
    assert density(fitted[name], np.array([drawn.mean()]))[0] == pytest.approx(expected, rel=0.15)


def test_the_unit_does_not_matter():
    values = np.random.default_rng(1).gamma(3, 2, 500) + 7
    plain, other = fit("gamma", values), fit("gamma", values * 1e9)
    assert other.ks == pytest.approx(plain.ks, abs=1e-6)
    assert other.aic == pytest.approx(plain.aic + 2 * 500 * np.log(1e9), abs=1e-2)
    assert other.parameters[-2:] == pytest.approx(np.array(plain.parameters[-2:]) * 1e9, rel=1e-3)


def test_measures_by_hand():
    """Of a uniform distribution: nothing is estimated but the ends, and all are known."""
    values = np.linspace(10, 20, 101)
    fitted = fit("uniform", values)
    assert fitted.parameters == pytest.approx((10, 10))
    assert fitted.log_likelihood == pytest.approx(-101 * np.log(10))
    assert fitted.aic == pytest.approx(4 - 2 * fitted.log_likelihood)
    assert fitted.ks == pytest.approx(1 / 101, abs=1e-9)
    assert fitted.histogram_error < 1e-3


def test_a_family_starts_from_the_minimum_too():
    """From the median alone, genpareto ends 25 units of likelihood below the family that was drawn."""
    values = np.random.default_rng(3).pareto(3, 600) + 1
    assert fit("genpareto", values).aic < fit("pareto", values).aic + 5


def test_a_density_that_does_not_integrate_to_one_is_no_fit(monkeypatch):
    """SciPy's gausshyper is wrong by a factor of hundreds at some parameters, and would win by thousands."""
    wrong = (15.332477143693513, 31.866217291878392, -4.474019478181106, 4.030999433788702)
    values = np.random.default_rng(3).normal(870, 5, 100)
    monkeypatch.setattr(stats.gausshyper, "fit", lambda given, **guess: (*wrong, given.min() - 1, np.ptp(given) + 2))
    with pytest.raises(NoFitError, match="does not integrate to 1"):
        fit("gausshyper", values)


def test_a_density_that_is_wrong_where_its_distribution_function_is_right_is_no_fit(monkeypatch):
    """SciPy's `dpareto_lognorm` had a density that integrated to 102 beside a right distribution function."""
    values = stats.norm.rvs(50, 3, 200, random_state=1)
    monkeypatch.setattr(stats.norm, "_pdf", lambda x: 2 * np.exp(-x * x / 2))
    with pytest.raises(NoFitError, match="does not integrate to 1"):
        fit("norm", values)


def test_a_spike_does_not_win():
    """gausshyper can put an endless density on the least value, which gained 16 units of likelihood here."""
    values = np.random.default_rng(3).lognormal(0, 0.5, 1000) * 1e5
    assert fit("lognorm", values).aic < fit("gausshyper", values).aic + 10


def test_more_than_a_hundred_families():
    assert len(fits.families()) > 100
    assert fits.families() == sorted(fits.families())
    assert not set(fits.LEFT_OUT) & set(fits.families())
    assert all(hasattr(stats, name) for name in fits.LEFT_OUT)


def test_any_number_of_workers_gives_the_same():
    rng = np.random.default_rng(2)
    samples = [rng.gamma(2, 3, 300), rng.normal(9, 1, 200)]
    names = ["norm", "gamma", "lognorm", "irwinhall", "studentized_range"]
    told = []
    fitted = fit_all(samples, names=names, limit_s=0.3, workers=1, report=lambda done, of: told.append((done, of)))
    assert fit_all(samples, names=names[::-1], limit_s=0.3, workers=2) == fitted
    assert told == [(number, 10) for number in range(1, 11)]
    for of_sample in fitted:
        assert [fit.aic for fit in of_sample.fits] == sorted(fit.aic for fit in of_sample.fits)
        assert of_sample.failures["studentized_range"] == "not done within 0.3 s of processor time"
        assert of_sample.failures["irwinhall"].startswith("SciPy: The generic `fit` implementation is unreliable")
        assert of_sample.rejected is False
        assert sorted(of_sample.ranks("ks").values()) == [1, 2, 3]
    assert fitted[1].best().family == "norm"


def test_a_family_that_does_not_come_back_to_python_is_ended(monkeypatch):
    """The kernel ends the process; the next family gets a new one. (2 s: the kernel counts whole seconds.)"""
    spin = """
import signal, sys
sys.path[:] = {path!r}
from odonata.analysis import fit_worker
fit = fit_worker.fit
def spin(family, values):
    if family == "norm":
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPROF])
        while True:
            pass
    return fit(family, values)
fit_worker.fit = spin
fit_worker.main({descriptor})
"""
    monkeypatch.setattr(fits, "_MAIN", spin)
    (fitted,) = fit_all([np.random.default_rng(1).normal(5, 1, 100)], names=["expon", "norm", "uniform"], limit_s=0.1)
    assert fitted.failures == {"norm": "not done within 0.1 s of processor time"}
    assert len(fitted.fits) == 2


def test_workers_that_do_not_start(monkeypatch):
    monkeypatch.setattr(fits, "_MAIN", "import sys; sys.exit(3)")
    with pytest.raises(RunError, match="do not start: the process that fitted it ended with status 3"):
        fit_all([np.arange(100.0)], names=SOME, workers=2)


def test_what_cannot_be_fitted():
    for values, said in ((np.arange(19.0), "19 values are fewer than 20"), (np.full(50, 2.0), "all values are equal")):
        with pytest.raises(InputError, match=said):
            fit_all([values])
    with pytest.raises(InputError, match=r"unknown family `lognorn`\n  hint: did you mean `lognorm`\?"):
        fit_all([np.arange(50.0)], names=["lognorn"])


def test_of_many_values_some_are_fitted(monkeypatch):
    monkeypatch.setattr(fits, "MOST_VALUES", 100)
    (fitted,) = fit_all([np.random.default_rng(1).normal(5, 1, 250)], names=["norm"])
    assert (fitted.n, fitted.of) == (84, 250)
