"""The web viewer, `akd view`: characters, clips and runs in a browser, by viser."""
