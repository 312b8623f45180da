"""The time of a message by De Sensi's equation (2), from latency and stalls (D11)."""

WINDOW = 1024
"""Packets that a NIC of Aries has under way at most."""
PAYLOAD = 64
"""Bytes of a packet of Aries (D5)."""


def estimate_ps(message_bytes: int, sent_ps: float, latency_ps: float, stalls: float) -> float:
    """T = (p + 512) / 1024 L + f (s + 1), with p packets of 64 B whose f flits alone take `sent_ps` at the NIC."""
    packets = -(-message_bytes // PAYLOAD)
    return (packets + WINDOW / 2) / WINDOW * latency_ps + sent_ps * (stalls + 1)
