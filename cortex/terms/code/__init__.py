"""Names and files of code as its languages define them."""
