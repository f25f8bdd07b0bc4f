import shop.inner.deep
from shop import Deep, Shop, helper
from shop.store import Item as I, count

from .store import Log


def main(box: Shop, things: list[I], unknown):
    box.save(1)
    box.flush()
    box.first.touch()
    box.get(1).touch()
    Shop.make().save(2)
    helper().run()
    shop.inner.deep.helper()
    [one.touch() for one in things]
    count = unknown.count
    count(2)
    unknown.touch()
    unknown.save(1)
    unknown.append(1)
    box = unknown
    box.write_line(1)


def shadow(Log):
    Log()


class Child(Shop):
    def save(self, item):
        super().save(item)

        def inner():
            self.own()
            count(1)

        inner()

    def own(self):
        with Shop() as opened:
            opened.flush()
        (walrus := I()).touch()
        walrus.touch()
        try:
            pass
        except Deep as error:
            error.run()
