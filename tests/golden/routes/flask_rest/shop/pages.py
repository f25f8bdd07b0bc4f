from flask import Blueprint
from flask.views import MethodView

about = Blueprint("about", __name__, url_prefix="/about")
admin = Blueprint("admin", __name__)
help_pages = Blueprint("help", __name__)


@about.get("/")
def show_about():
    return ""


class Settings(MethodView):
    def get(self):
        return ""

    def post(self):
        return ""


admin.add_url_rule("/settings", view_func=Settings.as_view("settings"), methods=["GET"])


@help_pages.route("/<topic>")
def show_help(topic):
    return topic


def show_terms():
    return ""
