from __future__ import annotations

from .pens import Ink, Hue as Tone


class Box:
    Ink: Ink
    spare: Ink
    Tone: Ink
    tone: Tone

    def own(self):
        self.Ink.say()

    def sibling(self):
        self.spare.say()

    def wrong(self):
        self.Tone.say()

    def right(self):
        self.tone.say()


class Crate(Box):
    def far(self, box: Box):
        self.Ink.say()
        box.Ink.say()


def given(Ink: Ink, Tone: Tone):
    Ink.say()
    Tone.say()
