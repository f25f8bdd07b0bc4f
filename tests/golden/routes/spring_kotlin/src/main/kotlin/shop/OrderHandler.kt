package shop

import org.springframework.web.reactive.function.server.ServerRequest
import org.springframework.web.reactive.function.server.ServerResponse

class OrderHandler {
    fun list(request: ServerRequest): ServerResponse = TODO()
    fun create(request: ServerRequest): ServerResponse = TODO()
    fun change(request: ServerRequest): ServerResponse = TODO()
    fun drop(request: ServerRequest): ServerResponse = TODO()
    fun base(): String = ""
}
