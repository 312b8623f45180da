"""What a run's tables say: pure functions, frames and arrays in, frames and arrays out."""
