"""Turns a date or a time into the keys that enter it, part by part, in a field of the browser (English, US)."""

from __future__ import annotations

import re

_ISO_DATE = re.compile(r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})")
_US_DATE = re.compile(r"(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})")
_TIME = re.compile(r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::\d{2})? ?(?P<half>[AaPp]?)[Mm]?")


def keys_for_field(kind: str, text: str) -> str | None:
    """The keys that enter a whole date or time from a field's first part on; None for any other text or field.

    ``kind`` is the field's type in HTML: ``date``, ``time`` …
    """
    if kind == "date" and (date := _ISO_DATE.fullmatch(text) or _US_DATE.fullmatch(text)):
        return f"{int(date['month']):02}{int(date['day']):02}{date['year']}"
    if kind == "time" and (time := _TIME.fullmatch(text)):
        hour, half = int(time["hour"]), time["half"].upper()
        if not half:
            hour, half = (hour % 12 or 12), "P" if hour >= 12 else "A"
        return f"{hour:02}{time['minute']}{half}"
    return None
