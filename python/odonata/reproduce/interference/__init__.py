"""Victims beside aggressors, measured side by side on Leonardo (Piarulli et al., arXiv 2604.11432), simulated again."""
