import flask
bp = flask.Blueprint("users", __name__, url_prefix="/users")

def show(name):
    return name

bp.add_url_rule("/<name>", "show", show, methods=["GET"])

@bp.route("/")
def index():
    return ""
