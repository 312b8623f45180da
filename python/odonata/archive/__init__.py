"""Archives: a run or a study with all that is needed to repeat it, as one file.

`inputs.py` finds the files that it was made from, `pack.py` puts all into a folder and a file of the same bytes each
time, and `cite.py` writes how to cite it. `unpack.py` unpacks what may come from anyone, `check.py` repeats it and
compares, and `commands.py` has the only commands that an archive can have.
"""
