"""All-reduces of NCCL on nodes with GPUs: published bus bandwidths, and ours."""
