"""Steps of training on GPUs: published times and rates, and ours."""
