"""Jobs on one machine, on a Ray cluster, or as shell commands: queue, retries, logs, results."""
