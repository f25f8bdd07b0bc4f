function old() {}
