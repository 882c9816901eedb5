"""What a design comes to: programs compiled and run, hardware priced, both confirmed."""
