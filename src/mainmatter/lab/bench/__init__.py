"""Methods and peers beside each other on this machine: accuracy, speed, memory, throughput."""
