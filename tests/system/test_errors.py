"""The error tree is complete: every class has its own wire code and is restored from it."""

from cortex.system import errors
from cortex.system.errors import BY_CODE, CortexError


def test_every_error_of_the_module_is_in_the_tree_with_a_code_of_its_own():
    classes = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, Exception)]
    assert set(classes) == set(BY_CODE.values())
    assert len({c.code for c in classes}) == len(classes)
    assert all(issubclass(c, CortexError) for c in classes)
