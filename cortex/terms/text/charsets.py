"""A guess at the encoding of text that names none and is not UTF-8.

The detector charset-normalizer leaves out encodings in which the text is noise. Source files hold
a few words only, too few for its statistics, so the usual letters of each encoding choose among
the others.
"""

import math
import unicodedata
from itertools import pairwise

from charset_normalizer import from_bytes

#: bytes of lines with other letters than those of ASCII that are judged
SAMPLE_BYTES = 16_000
#: noise, from 0 to 1, above the least one that leaves an encoding out
NOISE_MARGIN = 0.3
#: encodings in which texts are written, the usual ones first: they win ties
CODECS = (
    "cp1252", "gb18030", "cp932", "cp1251", "cp949", "big5", "euc_jp", "cp1250", "koi8_r", "cp1253", "cp1254",
    "cp866", "cp1255", "cp1256", "cp874", "iso8859_2", "cp850", "mac_roman",
)  # fmt: skip
#: how much less likely an encoding is than its text
_RARE = {"cp1255": 0.3, "cp1256": 0.1, "cp874": 0.6, "cp866": 0.3, "cp850": 1.0, "mac_roman": 2.5}
#: of letters of two bytes: (first and last lead byte, share of letters), the usual ones
_LEADS: dict[str, tuple[tuple[int, int, float], ...]] = {
    "gb18030": ((0xB0, 0xD7, 0.9), (0xA1, 0xA3, 0.07), (0xD8, 0xF7, 0.02)),
    "cp949": ((0xB0, 0xC8, 0.96), (0xA1, 0xA3, 0.02), (0xCA, 0xFD, 0.01)),
    "big5": ((0xA4, 0xC6, 0.9), (0xA1, 0xA3, 0.07), (0xC9, 0xF9, 0.02)),
    "euc_jp": ((0xA4, 0xA5, 0.55), (0xB0, 0xCF, 0.35), (0xA1, 0xA3, 0.07), (0xD0, 0xF4, 0.02)),
    "cp932": ((0x82, 0x83, 0.55), (0x88, 0x97, 0.35), (0x81, 0x81, 0.07), (0x98, 0xFC, 0.02)),
}
#: logarithm of the chance of a letter: usual, at the beginning of a word, mark of typography, odd
_USUAL, _CAPITAL, _MARK, _ODD = math.log(0.9 / 32), math.log(0.1 / 32), -6.5, -9.0
_RARE_LEAD, _TRAIL = math.log(0.001 / 94), math.log(1 / 94)
_MARKS = frozenset("\xa0«»„“”‘’‚–—…©®°§€£±·×№ºª¿¡")
#: scripts by the first word of a letter's name; each is written without letters of another
_SCRIPTS = frozenset(("LATIN", "CYRILLIC", "GREEK", "HEBREW", "ARABIC", "THAI"))


def guess(raw: bytes) -> str:
    """Return the codec in which `raw` is most likely written; any bytes have one."""
    sample = _take_sample(raw)
    valid = {codec: text for codec in CODECS if (text := _decode(sample, codec)) is not None}
    if not valid:
        return "iso8859-1"
    matches = from_bytes(sample, cp_isolation=list(valid), threshold=0.6, preemptive_behaviour=False)
    detected = {codec: match for match in matches for codec in match.could_be_from_charset}
    limit = min((match.chaos for match in detected.values()), default=0.0) + NOISE_MARGIN
    possible = [codec for codec in valid if codec in detected and detected[codec].chaos <= limit]

    def likelihood(codec: str) -> float:
        coherence = detected[codec].coherence if codec in detected else 0.0
        return _score(sample, valid[codec], codec) + coherence - _RARE.get(codec, 0.0)

    return max(possible or valid, key=likelihood)


def _take_sample(raw: bytes) -> bytes:
    lines, size = [], 0
    for line in raw.splitlines(keepends=True):
        if not line.isascii():
            lines.append(line)
            size += len(line)
            if size > SAMPLE_BYTES:
                break
    return b"".join(lines)


def _decode(sample: bytes, codec: str) -> str | None:
    try:
        return sample.decode(codec)
    except UnicodeDecodeError:
        return None


def _score(sample: bytes, text: str, codec: str) -> float:
    """Return the mean logarithm of the chance of a byte above ASCII."""
    total = 0.0
    if codec in _LEADS:
        count = 0
        for letter in text:
            if letter > "\x7f":
                encoded = letter.encode(codec)
                count += len(encoded)
                total += _lead_score(encoded, _LEADS[codec])
        return total / max(1, count)
    for before, (letter, after) in zip([" ", *text], pairwise([*text, " "]), strict=False):
        if letter > "\x7f":
            total += _letter_score(before, letter, after)
    return total / max(1, sum(byte > 0x7F for byte in sample))


def _lead_score(encoded: bytes, leads: tuple[tuple[int, int, float], ...]) -> float:
    if len(encoded) != 2:
        return 2 * _ODD * len(encoded)
    for first, last, share in leads:
        if first <= encoded[0] <= last:
            return math.log(share / (last - first + 1)) + _TRAIL
    return _RARE_LEAD + _TRAIL


def _letter_score(before: str, letter: str, after: str) -> float:
    script = _script(letter)
    if unicodedata.combining(letter):
        return _USUAL if script and _script(before) == script else _ODD
    if not script:
        is_mark = letter in _MARKS and not (before.isalpha() and after.isalpha() and letter not in "’·")
        return _MARK if is_mark else _ODD
    around = [_script(other) for other in (before, after) if other.isalpha()]
    if not around or any(other != script for other in around):
        return _MARK if not around else _ODD
    if letter.isupper():
        return _ODD if before.islower() else _CAPITAL if not before.isupper() else _MARK
    return _USUAL if script != "LATIN" else _USUAL - 0.3


def _script(letter: str) -> str:
    """Return the script of a letter; "" for a mark."""
    if letter <= "\x7f":
        return "LATIN" if letter.isalpha() else ""
    name = unicodedata.name(letter, "").partition(" ")[0]
    return name if name in _SCRIPTS else ""
