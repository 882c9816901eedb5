"""The commands of `dse`: one file each, found by name and imported when first needed.

A file `dse/commands/<name>.py` defines `command`, a click command; nothing else is to be edited.
Its module level imports click and nothing heavy, so that `dse --help` stays instant.
"""
