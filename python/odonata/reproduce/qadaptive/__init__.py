"""Q-adaptive routing beside UGAL, PAR and Valiant on a dragonfly: Kang, Wang and Lan 2021 (HPDC)."""
