"""Archives: a run or a study with all that is needed to repeat it, as one file.

`inputs.py` finds the files that it was made from, `pack.py` puts all into a folder and a file of the same bytes each
time, `cite.py` writes how to cite it, and `check.py` repeats it and compares.
"""
