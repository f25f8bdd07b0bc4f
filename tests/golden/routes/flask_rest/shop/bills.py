from flask_restful import Resource


class Bills(Resource):
    def get(self):
        return []

    def post(self):
        return {}


class Bill(Resource):
    def get(self, number):
        return {}
