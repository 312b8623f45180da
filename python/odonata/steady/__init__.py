"""Runs whose steady iterations are skipped: `[run] steady = { error = "1 %" }`.

A run is divided into *epochs*: in each of them the same jobs run. A *shortened* specification is an ordinary one in
which programs have fewer iterations and later jobs start earlier, so that each epoch is shorter. It is simulated like
any other. What it leaves out is extrapolated from the mean time of an iteration of every job in the epoch, if that is
known within the bound; else a longer one is simulated, up to the whole run.

- `mean.py`: the mean of a series after its warm-up, with its confidence interval;
- `series.py`: the iterations of a program in a time, or the steps of its collective around rings;
- `steps.py`: jobs of which steps are counted in place of iterations;
- `epochs.py`: the epochs of a simulated run, and what is seen of each job in them;
- `extrapolate.py`: what a shortened run has skipped, epoch by epoch;
- `shorten.py`: the shortened specification with the wanted number of iterations in each epoch;
- `refusals.py`: the reasons for which a run is simulated in full;
- `search.py`: the loop over these, and its bound on the work;
- `skipped.py`: the outcome for a job and for the manifest.
"""
