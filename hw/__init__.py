"""Hardware: datapaths in PyRTL, the units and cores built from them, and what they cost."""
