"""Latency against offered load on a balanced dragonfly, for each routing: Kim 2008 and Jiang 2009."""
