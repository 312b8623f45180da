"""Studies: one scenario along many axes, every run once, and all results in one data set.

| file | what |
|---|---|
| `plan.py` | a study: a scenario, axes, points |
| `read.py` | its file (`axis.py`, `values.py`, `draws.py`, `show.py`, `inline.py`); `check.py` tries each value |
| `task.py` | the work for one point, from its values to its run |
| `ledger.py` | the state of every point: no point is lost, no run is repeated |
| `local.py` | workers: processes on this machine (`worker.py`) |
| `dask_pool.py` | workers of Dask (`slurm.py` starts them as Slurm jobs) |
| `certificates.py`, `dask_servers.py` | access to a scheduler: TLS, addresses, no HTTP servers |
| `results.py` | the files of finished runs (`odonata.files`) |
| `dataset.py`, `study.py` | the tables of a study in the order of its points, and opening them |
| `sweep.py` | the whole sweep |
| `recall.py` | which run each point was, for the next sweep |

A point is a number, and division with remainder gives its values, so workers receive only numbers. A worker takes a
point, resolves it and reports its run id; the ledger grants each run once, even if two points are the same run. If a
worker dies, its points are granted again; a run during which two workers died has failed. Local workers are processes
that the sweep starts itself, because the pools of the standard library lose their queue when a worker dies.

Only the sweeping process writes results, every half second. A point is done when its file is written; the file's name
ends in digits of its SHA-256, so damage is detected. Small files are merged: the joint file is written before the small
ones are removed, so an interruption can leave a run twice but loses none. Tables are made from the results in the order
of the points, so their bytes do not depend on the workers.

A resolution is recalled by digests of all that decides it. So whatever a resolution reads is read through
`odonata.reading`. If no input of a study has changed, the next sweep starts no worker and opens the tables.
"""
