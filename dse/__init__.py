"""The explorer: spaces, designs, evaluation, search, fronts, reports and the command line."""
