"""Logistic and quantile regression, for few columns and up to many thousands of rows.

Both are convex problems that SciPy solves, so the same rows give the same coefficients. A library of machine learning
would solve the same two problems and is ten times the size of everything else that predictions need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Matrix = NDArray[np.float64]

MOST_ROWS = 5_000
"""Rows of a quantile regression; of more, every k-th counts. Assumed: coefficients of 5,000 rows are precise enough."""


def sigmoid(logit: Vector) -> Vector:
    """Probabilities of logits."""
    return np.asarray(0.5 * (1 + np.tanh(logit / 2)))


def logit(probability: Vector) -> Vector:
    """Logits of probabilities, which are first limited to 1e-6 and 1 - 1e-6."""
    limited = np.clip(probability, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(limited / (1 - limited)))


def logistic(x: Matrix, y: Vector, penalty: float) -> Vector:
    """Logistic regression with a ridge penalty.

    Parameters
    ----------
    x
        Columns (shape `(n, k)`), of mean 0 and standard deviation 1 so that the penalty treats them alike.
    y
        Outcomes between 0 and 1 (shape `(n,)`).
    penalty
        Weight of half the sum of the squared coefficients, against the sum of the log losses. The intercept has none.

    Returns
    -------
    numpy.ndarray
        Intercept and coefficients (shape `(k + 1,)`).
    """
    from scipy.optimize import minimize

    full = np.column_stack([np.ones(len(y)), x])
    weights = np.full(full.shape[1], penalty)
    weights[0] = 0.0

    def loss(beta: Vector) -> tuple[float, Vector]:
        z = full @ beta
        value = float((np.logaddexp(0, z) - y * z).sum() + 0.5 * (weights * beta**2).sum())
        return value, full.T @ (sigmoid(z) - y) + weights * beta

    def hessian(beta: Vector) -> Matrix:
        p = sigmoid(full @ beta)
        return np.asarray((full.T * (p * (1 - p))) @ full + np.diag(weights))

    start = np.zeros(full.shape[1])
    start[0] = logit(np.array([y.mean()]))[0]
    optimum = minimize(loss, start, jac=True, hess=hessian, method="trust-exact", options={"gtol": 1e-8})
    return np.asarray(optimum.x)


def recalibrate(probability: Vector, y: Vector) -> tuple[float, float]:
    """Intercept a and slope c >= 0 such that sigmoid(a + c logit(p)) is calibrated (Platt 1999).

    `y` is 0 or 1; as in Platt 1999, section 2.1, outcomes are moved from 0 and 1 towards each other by what a uniform
    prior says, so that few outcomes do not give probabilities of 0 or 1.
    """
    from scipy.optimize import minimize

    positive = float(y.sum())
    target = np.where(y > 0, (positive + 1) / (positive + 2), 1 / (len(y) - positive + 2))
    of = logit(probability)

    def loss(beta: Vector) -> tuple[float, Vector]:
        z = beta[0] + beta[1] * of
        error = sigmoid(z) - target
        return float((np.logaddexp(0, z) - target * z).sum()), np.array([error.sum(), (error * of).sum()])

    optimum = minimize(loss, np.array([0.0, 1.0]), jac=True, method="L-BFGS-B", bounds=[(None, None), (0, None)])
    return float(optimum.x[0]), float(optimum.x[1])


def quantile(x: Matrix, y: Vector, q: float) -> Vector:
    """Quantile regression (Koenker and Bassett 1978), by its dual linear problem.

    Parameters
    ----------
    x
        Columns (shape `(n, k)`), none of which is constant.
    y
        Values (shape `(n,)`).
    q
        The quantile, between 0 and 1.

    Returns
    -------
    numpy.ndarray
        Intercept and coefficients (shape `(k + 1,)`).
    """
    from scipy.optimize import linprog

    step = -(-len(y) // MOST_ROWS)
    full = np.column_stack([np.ones(len(y)), x])[::step]
    values = y[::step]
    # max y'd with X'd = (1 - q) X'1 and 0 <= d <= 1; the coefficients are the prices of the equations.
    optimum = linprog(-values, A_eq=full.T, b_eq=(1 - q) * full.sum(axis=0), bounds=(0, 1), method="highs")
    return -np.asarray(optimum.eqlin.marginals)
