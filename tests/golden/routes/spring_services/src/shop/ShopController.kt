package shop

import org.springframework.beans.factory.annotation.Qualifier
import org.springframework.stereotype.Service
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.RestController

interface Prices {
    fun price(): Int
}

@Service
class NetPrices : Prices {
    override fun price(): Int = 1
}

@Service("gross")
class GrossPrices : Prices {
    override fun price(): Int = 2
}

@RestController
class ShopController(@Qualifier("gross") private val prices: Prices) {
    @GetMapping("/price")
    fun price(): Int = prices.price()
}
