"""Propose: find, prove, price and deliver the instructions that a workload is missing."""
