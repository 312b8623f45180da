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
"""
