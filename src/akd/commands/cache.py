"""`akd cache`: what is kept between runs."""

from __future__ import annotations

from dataclasses import dataclass

from akd.base.cache import cache_folder, cache_size, clear_cache


@dataclass(frozen=True)
class Cache:
    """Show how much derived data (fitted clouds, embeddings) is kept, or remove it.

    Example: akd cache --clear
    """

    clear: bool = False
    """Remove all of it."""

    def run(self) -> None:
        """Print the folder and its size."""
        files, size = cache_size()
        if self.clear:
            clear_cache()
            print(f"{cache_folder()}: {files} files removed, {size / 2**20:.1f} MiB")
        else:
            print(f"{cache_folder()}: {files} files, {size / 2**20:.1f} MiB")
