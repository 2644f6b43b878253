"""Methods and peers compared on this machine: accuracy, speed, memory, throughput."""
