"""Co-processors: engines in a frame of buffer, padder, control and bus."""
