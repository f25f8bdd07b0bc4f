from .deep import helper, Deep

__all__ = ["helper", "Deep"]
