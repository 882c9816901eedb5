"""`dse run`: any program on a modelled core."""
