"""The placement policies, one file each."""
