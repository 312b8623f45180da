"""Predicts at submission time whether a run will fall into the long tail, and how long it takes.

Source: Salimi Beni and Cosenza 2022, abstract and section 7: the background utilisation b "can
successfully predict most of those runs in long-tail at job submission time". The paper states neither a classifier nor
a threshold nor an accuracy, so they are defined here: `train.py` how a predictor is made and checked, `predictor.py`
what it holds and answers, `runs.py` the records that it learns from.
"""
