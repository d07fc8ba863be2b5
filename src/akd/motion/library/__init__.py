"""The motion library: true clips by action, and each of them on any body of the same plan."""
