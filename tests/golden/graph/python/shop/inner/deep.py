def helper():
    return Deep()


class Deep:
    def run(self):
        return self

    def stop(self): ...
