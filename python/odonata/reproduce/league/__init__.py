"""The league table of routings: latency against load, and interference of two jobs, on four small machines."""
