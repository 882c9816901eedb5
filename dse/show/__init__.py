"""What people see of runs, designs and parts: reports, cards, plots and exported files."""
