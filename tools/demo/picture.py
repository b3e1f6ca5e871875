"""Draws what the detector found into a copy of the photograph."""

from __future__ import annotations

from collections.abc import Sequence

import detect
import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont

BOX_COLOUR = (40, 220, 90)
POINT_COLOUR = (255, 210, 0)
LABEL_COLOUR = (0, 0, 0)


def draw_label(draw: PIL.ImageDraw.ImageDraw, text: str, left: float, top: float) -> None:
    """Writes on a filled ground, just above (left, top), or below it at the picture's edge."""
    width, height = draw.im.size
    font = PIL.ImageFont.load_default(size=max(12, height // 28))
    pad = 3
    _, _, text_width, text_height = draw.textbbox((0, 0), text, font=font, anchor="lt")
    x = min(max(left, 0), max(width - text_width - 2 * pad, 0))
    y = top - text_height - 2 * pad if top >= text_height + 2 * pad else max(top, 0)
    draw.rectangle((x, y, x + text_width + 2 * pad, y + text_height + 2 * pad), fill=BOX_COLOUR)
    draw.text((x + pad, y + pad), text, font=font, anchor="lt", fill=LABEL_COLOUR)


def with_faces(photo: PIL.Image.Image, faces: Sequence[detect.Detection]) -> PIL.Image.Image:
    """A copy of the photograph with a box, a label and the keypoints of each face (in pixels)."""
    picture = photo.copy()
    draw = PIL.ImageDraw.Draw(picture)
    width, height = picture.size
    stroke = max(2, width // 200)
    radius = max(2, width // 170)
    for face in faces:
        box = face.clipped(width, height).box
        draw.rectangle(box, outline=BOX_COLOUR, width=stroke)
        for x, y in face.keypoints:
            if 0 <= x < width and 0 <= y < height:
                draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=POINT_COLOUR)
        draw_label(draw, f"face {face.score:.0%}", box[0], box[1])
    return picture
