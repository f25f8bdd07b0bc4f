"""What memory tells of places in a project: which notes speak of them. Opens none of them."""
