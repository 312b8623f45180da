"""Q-adaptive routing beside adaptive and oblivious routings on a dragonfly of 1,056 nodes: Kang 2021 (HPDC)."""
