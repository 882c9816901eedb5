"""`python -m dse`: the command line without an installed script."""

from dse.cli import main

if __name__ == "__main__":
    main()
