"""Studies: one scenario along many axes, every run once, and all results in one data set.

| file | what |
|---|---|
| `plan.py` | what a study consists of: a scenario, axes, points |
| `read.py` | its file (`axis.py`, `values.py`, `draws.py`, `show.py`, `inline.py`); `check.py` tries each value |
| `task.py` | one point to its run: what workers do |
| `ledger.py` | what is to be done, by whom, and what is done: no point is lost, no run repeated |
| `local.py` | who does it: processes on this machine (`worker.py`) |
| `dask_pool.py` | or workers of Dask (`slurm.py` starts them as jobs of a queue) |
| `certificates.py`, `dask_servers.py` | who may speak to a scheduler: TLS, addresses, no HTTP servers |
| `results.py` | where a finished run is from the moment it is finished (`odonata.files`) |
| `dataset.py`, `study.py` | the tables of a study in the order of its points, and opening them |
| `sweep.py` | all of it together |
"""
