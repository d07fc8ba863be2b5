"""The commands of `akd`: each module holds one command's options and what it does.

Options are dataclasses that import nothing heavy, so that `akd --help` is quick; what a command
needs, it imports when it runs.
"""
