def auth(): ...


def log(): ...


class Paging:
    def size(self): ...


class Store:
    def load(self, size): ...


class Role:
    def __init__(self, name): ...

    def __call__(self): ...


allow = Role("admin")


def get_store():
    return Store()
