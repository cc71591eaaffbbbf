"""A simulated world: machines, network, disks and time, all drawn from one seed."""
