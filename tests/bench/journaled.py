"""journaled - an ext4 with a journal for the spools of a benchmark, made in a file and mounted; root's alone

An ext4 without a journal, which some machines have, passes over each inode that was freed in the last seconds before it
takes one, so that making files there costs the more the faster jobs go.
"""
import contextlib
import os
import subprocess


@contextlib.contextmanager
def journaled(base):
    """In the directory `base`; the path of where it is mounted."""
    image, target = base + "/ext4.img", base + "/ext4"
    os.makedirs(target, exist_ok=True)
    subprocess.run(["truncate", "-s", "24G", image], check=True)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-N", "6000000", image], check=True)
    subprocess.run(["mount", "-o", "loop", image, target], check=True)
    try:
        yield target
    finally:
        subprocess.run(["umount", target], check=False)
        os.unlink(image)
