"""Instructions: what they mean, how they are encoded, compiled, executed and timed."""
