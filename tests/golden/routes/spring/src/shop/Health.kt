package shop

import org.springframework.stereotype.Controller
import org.springframework.web.bind.annotation.*

@Controller
@RequestMapping("/health", produces = ["text/plain"])
class Health(private val store: Store) {
    @GetMapping("/live")
    fun live(): String = "ok"

    @RequestMapping(value = [READY], method = [RequestMethod.GET, RequestMethod.HEAD])
    fun ready() = "ok"

    companion object {
        const val READY = "/ready"
    }
}
