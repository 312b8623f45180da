//! A slow, short, obviously correct simulator.
