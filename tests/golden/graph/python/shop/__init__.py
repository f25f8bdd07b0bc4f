from .store import Store as Shop
from .inner import *
