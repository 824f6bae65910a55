#!/usr/bin/env python3
"""Makes the pictures beside this file: each screen with the sample sessions, as SVG and PNG.

The screens are those of `tests/tui/scenes.py`, which the tests compare too. PNGs are taken by a
headless Chromium; where there is none, they are left out.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from tui.scenes import SCENES, SIZES, Scene, Size, play, stage  # noqa: E402 - found only now

THEMED = ("light", "high-contrast", "16-colours")
"""The themes in which the Timeline is shown beside the dark one."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PAGE = HERE / "pixels.html"
ALPHA = 3
"""The place of the opacity among the four bytes of a colour."""


def shots(only: str) -> Iterator[tuple[str, Scene, Size, str]]:
    """Give name, scene, size and theme of each picture whose name begins as asked."""
    every = [
        (f"{scene.name}-{columns}x{rows}", scene, (columns, rows), "dark")
        for scene in SCENES
        for columns, rows in SIZES
    ]
    every += [(f"timeline-{theme}-120x36", SCENES[0], SIZES[1], theme) for theme in THEMED]
    return (each for each in every if each[0].startswith(only))


def take(scene: Scene, size: Size, theme: str) -> str:
    """Give a scene as SVG."""
    environment = {"TTDBG_THEME": theme}
    svg = asyncio.run(
        play(scene, size, environment, lambda app: app.export_screenshot(title=scene.command))
    )
    return trimmed(svg)


def trimmed(svg: str) -> str:
    """Give a picture without fonts from elsewhere, in whole pixels, the same on every run."""

    def whole(box: re.Match[str]) -> str:
        width, height = (math.ceil(float(side)) for side in box.groups())
        return f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'

    svg = re.sub(r'viewBox="0 0 (\S+) (\S+)"', whole, svg, count=1)
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"\s*<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"terminal-\d+-", "", svg)
    # One clip path for each line of text would be a third of the picture, and cuts nothing.
    svg = re.sub(r'<clipPath id="line-\d+">.*?</clipPath>', "", svg, flags=re.DOTALL)
    svg = re.sub(r' clip-path="url\(#line-\d+\)"', "", svg)
    svg = svg.replace(' shape-rendering="crispEdges"', "")
    svg = svg.replace("<style>", "<style>rect { shape-rendering: crispEdges }", 1)
    svg = re.sub(r"\n\s*", "\n", svg)
    return svg.replace("&#160;", "\N{NO-BREAK SPACE}")


def photograph(browser: str, svg: str, target: Path) -> None:
    """Write a picture as PNG, in the size in which it is drawn."""
    source = f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"
    with TemporaryDirectory() as profile:
        page = Path(profile) / "page.html"
        page.write_text(PAGE.read_text(encoding="utf-8").replace("SOURCE", source))
        shown = subprocess.run(  # noqa: S603 - a browser that was found, with a page of our own
            [browser, *QUIET, f"--user-data-dir={profile}", "--dump-dom", page.as_uri()],
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
        ).stdout
    drawn = re.search(r"<body>(\d+) (\d+) (\S+) (\S+)</body>", shown)
    if drawn is None:
        raise ValueError(f"{browser} did not draw {target.name}")
    size = int(drawn[1]), int(drawn[2])
    target.write_bytes(png(size, b64decode(drawn[3]), b64decode(drawn[4])))


def png(size: Size, colours: bytes, pixels: bytes) -> bytes:
    """Give pixels that each name one of a few RGBA colours as a small PNG."""
    width, height = size
    opaque = bytes(byte for at, byte in enumerate(colours) if at % 4 != ALPHA)
    rows = (b"\0" + pixels[at : at + width] for at in range(0, len(pixels), width))
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", opaque),
        (b"tRNS", colours[ALPHA::4]),
        (b"IDAT", zlib.compress(b"".join(rows), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )


def forget_others(folder: Path, names: set[str]) -> None:
    """Remove the pictures of scenes that are no more."""
    for picture in (*folder.glob("*.svg"), *folder.glob("*.png")):
        if picture.stem not in names:
            picture.unlink()


def main() -> None:
    """Write all pictures, or those that are asked for."""
    parser = argparse.ArgumentParser(description="Make the pictures of the screens.")
    parser.add_argument(
        "--only", metavar="NAME", default="", help="only pictures whose name begins so"
    )
    parser.add_argument(
        "--to", metavar="FOLDER", type=Path, default=HERE, help="where to write them"
    )
    arguments = parser.parse_args()
    chosen = list(shots(arguments.only))
    if not chosen:
        parser.error(f"no picture is named {arguments.only}")
    target = arguments.to.resolve()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.stderr.write(f"None of {', '.join(BROWSERS)} is here: PNGs are left out.\n")
    if not arguments.only:
        forget_others(target, {name for name, *_ in chosen})
    with TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        os.environ["XDG_STATE_HOME"] = folder
        os.environ.pop("NO_COLOR", None)
        os.chdir(stage(Path(folder)))
        photos: list[Future[None]] = []
        for name, scene, size, theme in chosen:
            svg = take(scene, size, theme)
            if folder in svg:
                raise ValueError(f"{name} shows a path of this machine")
            (target / f"{name}.svg").write_text(svg, encoding="utf-8")
            if browser is not None:
                photos.append(pool.submit(photograph, browser, svg, target / f"{name}.png"))
        os.chdir(HERE)
        for photo in photos:
            photo.result()


if __name__ == "__main__":
    main()
