package other

import shop._

class Wrapper { def wrap(): String = shop.wrapped(wrapped("b")) }
