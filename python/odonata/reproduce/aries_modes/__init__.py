"""The routing modes of Aries (De Sensi 2019): phantom congestion (D8), pairs of nodes in one group and in two (D22)."""
