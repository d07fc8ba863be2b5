"""The functions behind `import akd`: load, rig, splat, ground, measure. See `akd.pipeline` too."""
