"""What congestion control does: GPCNeT's canaries beside its congestors, and an incast with a bystander."""
