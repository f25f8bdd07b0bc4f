import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Handler(Protocol):
    def __call__(self, name: str) -> "App": ...


class Group:
    def command(self): ...


def group() -> Group: ...


class App:
    handler: Handler

    def client(self) -> "Client":
        return Client()

    def handle(self):
        json.loads("{}")
        return self.handler("a").client().get()


class Client:
    def get(self): ...


@contextmanager
def opened() -> Iterator[App]:
    yield App()


@group()
def cli(): ...


@cli.command()
def sub():
    cli()


def run(handler: Handler):
    return handler("b").handle()


def narrowed(one, two):
    if isinstance(one, App):
        one.client()
    one.client_of_another()
    assert isinstance(two, (Client, App))
    return two.get()
