"""De Sensi, Di Girolamo and Hoefler, "Mitigating Network Noise on Dragonfly Networks through Application-Aware
Routing", SC 2019: the performance model, network noise of ping-pongs, and microbenchmarks under three policies."""
