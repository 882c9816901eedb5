"""The default sampler: an estimator that learns, searches, and proves what it can."""
