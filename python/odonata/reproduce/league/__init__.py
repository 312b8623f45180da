"""All routings on five machines: throughput, latency, and what a neighbour does to a job."""
