"""Single files out of published Python wheels: downloaded once, checked, kept in a cache.

The wheels are never installed: some are only carriers of data (a schema, a model, a photograph)
with large dependencies of their own. The one thing to know: every file is pinned twice, the wheel
by the hash that pip checks and the file by its own, so a cached file is as good as a fresh one.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence


class FetchError(Exception):
    """Holds one sentence for a person: what could not be fetched and what to do."""


@dataclasses.dataclass(frozen=True)
class WheelFile:
    """One file of one wheel. `platform` is fixed so that every machine unpacks the same wheel."""

    package: str
    version: str
    platform: str
    wheel_sha256: str
    wheel_megabytes: int
    member: str
    sha256: str


def cache_root() -> pathlib.Path:
    """The folder shared by all clones of one user (XDG Base Directory: a relative value is void).

    A user without a home, as in some containers, gets the temporary folder; this is safe because
    nothing from the cache is used unchecked.
    """
    configured = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(configured):
        return pathlib.Path(configured) / "virtaccel"
    home = os.path.expanduser("~")
    if os.path.isabs(home):
        return pathlib.Path(home) / ".cache" / "virtaccel"
    return pathlib.Path(tempfile.gettempdir()) / "virtaccel-cache"


def digest(path: pathlib.Path) -> str:
    """The SHA-256 of a file's bytes in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_whole(path: pathlib.Path, data: bytes) -> None:
    """Writes a file so that a reader sees the old file or the new one, never a part of either."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        pathlib.Path(temporary).unlink(missing_ok=True)
        raise


def cached(source: WheelFile) -> bytes | None:
    """The file's bytes, if the cache holds them undamaged."""
    try:
        data = cache_path(source).read_bytes()
    except OSError:
        return None
    return data if hashlib.sha256(data).hexdigest() == source.sha256 else None


def cache_path(source: WheelFile) -> pathlib.Path:
    """Where the file lies in the cache."""
    folder = cache_root() / f"{source.package}-{source.version}"
    return folder / pathlib.PurePath(source.member).name


def read(source: WheelFile) -> bytes:
    """The file's bytes, from the cache or, where they are missing or damaged, from the wheel."""
    return read_all([source])[0]


def read_all(sources: Sequence[WheelFile]) -> list[bytes]:
    """The bytes of several files of one wheel, which is downloaded once if any of them is missing
    from the cache."""
    found = [cached(source) for source in sources]
    if None in found:
        found = download(sources)
        for source, data in zip(sources, found, strict=True):
            keep(source, data)
    return found


def keep(source: WheelFile, data: bytes) -> None:
    """Puts a file into the cache; a cache that cannot be written costs only a word."""
    try:
        write_whole(cache_path(source), data)
    except OSError as error:
        print(f"The cache folder ({cache_path(source).parent}) cannot be written "
              f"({error.strerror}); the next clean clone downloads again.", file=sys.stderr)


def download(sources: Sequence[WheelFile]) -> list[bytes]:
    """Has pip fetch the wheel into a temporary folder and returns the files."""
    source = sources[0]
    print(f"Downloading {source.package} {source.version} ({source.wheel_megabytes} MB) ...",
          file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="virtaccel-wheel-") as folder:
        wheel = pip_download(source, pathlib.Path(folder))
        with zipfile.ZipFile(wheel) as archive:
            return [member_of(archive, one) for one in sources]


def member_of(archive: zipfile.ZipFile, source: WheelFile) -> bytes:
    """The bytes of one file of an open wheel, checked."""
    try:
        data = archive.read(source.member)
    except KeyError:
        name = pathlib.PurePath(archive.filename).name
        raise FetchError(f"The wheel ({name}) holds no file of the name ({source.member}); "
                         "correct the pin.") from None
    found = hashlib.sha256(data).hexdigest()
    if found != source.sha256:
        raise FetchError(f"The file ({source.member}) of {source.package} {source.version} has the "
                         f"SHA-256 ({found}) where ({source.sha256}) is pinned; correct the pin.")
    return data


def pip_download(source: WheelFile, folder: pathlib.Path) -> pathlib.Path:
    """Downloads the wheel by the pip of the running Python and returns its path."""
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{source.package}=={source.version} "
                            f"--hash=sha256:{source.wheel_sha256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes",
               "--only-binary=:all:", "--implementation=cp", "--python-version=3.11",
               f"--platform={source.platform}", "--disable-pip-version-check",
               f"--dest={folder}", f"--requirement={requirements}"]
    interactive = sys.stderr.isatty()
    if not interactive:
        command += ["--quiet", "--progress-bar=off"]
    result = subprocess.run(command, stdout=sys.stderr, check=False,
                            stderr=None if interactive else subprocess.PIPE, text=True)
    wheels = sorted(folder.glob("*.whl"))
    if result.returncode == 0 and len(wheels) == 1:
        return wheels[0]
    if result.stderr:
        print(result.stderr.rstrip(), file=sys.stderr)
    if result.stderr and "No module named pip" in result.stderr:
        raise FetchError(f"The Python ({sys.executable}) has no pip; use the one of a virtual "
                         "environment (build/venv/bin/python) or install python3-pip.")
    raise FetchError(f"pip cannot download {source.package} {source.version} (exit code "
                     f"{result.returncode}); see its words above, check the network and try again.")
