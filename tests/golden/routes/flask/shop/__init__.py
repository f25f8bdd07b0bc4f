from flask import Flask


def create_app():
    app = Flask(__name__)
    from .orders import orders, admin
    from shop.users import bp as users_bp

    orders.register_blueprint(admin, url_prefix="/admin")
    app.register_blueprint(orders)
    app.register_blueprint(users_bp, url_prefix="/v2/people")

    @app.route("/health")
    def health():
        return "ok"

    @app.get("/ping")
    @app.get("/pong")
    def ping():
        return "ok"

    return app
