from fastapi import FastAPI
def setup(app: FastAPI) -> None:
    @app.get("/health")
    def health(): ...
    app.add_api_route("/ready", ready)

def ready(): ...
