"""`python -m akd` is `akd`."""

from akd.cli import entry

if __name__ == "__main__":  # not in the processes that training starts
    entry()
