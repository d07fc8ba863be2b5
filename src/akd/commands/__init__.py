"""Commands of `akd`, one module each: options and implementation.

Options are dataclasses in modules that import nothing heavy, so that `akd --help` is fast. A
command imports what it needs when it runs.
"""
