"""Level-Spread (Zhang 2018): communication times of jobs under nine placement policies, figures 2 and 4 to 13."""
