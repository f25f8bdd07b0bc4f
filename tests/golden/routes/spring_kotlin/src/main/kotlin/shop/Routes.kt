package shop

import org.springframework.context.annotation.Bean
import org.springframework.context.annotation.Configuration
import org.springframework.http.MediaType
import org.springframework.web.reactive.function.server.RouterFunction
import org.springframework.web.reactive.function.server.ServerResponse
import org.springframework.web.reactive.function.server.coRouter
import org.springframework.web.reactive.function.server.router

const val ADMIN = "/admin"

@Configuration
class Routes(private val handler: OrderHandler) {
    lateinit var later: OrderHandler

    @Bean
    fun orders() = router {
        GET("/orders", handler::list)
        "/api".nest {
            POST("/orders") { handler.create(it) }
            accept(MediaType.APPLICATION_JSON).nest {
                PUT("/orders/{id}", handler::change)
            }
            (path("/a") or path("/b")).nest {
                GET("", handler::list)
            }
        }
        (GET("/old") or POST("/older")).invoke(handler::list)
        path(ADMIN).nest {
            DELETE("/orders/{id}", accept(MediaType.APPLICATION_JSON), handler::drop)
        }
        add(more())
        resources("/**", null)
    }

    fun more(): RouterFunction<ServerResponse> = coRouter {
        PATCH("/more/{id}", handler::change)
    }

    fun other() = coRouter {
        GET(handler.base() + "/x", handler::list)
    }

    fun none(list: List<String>) = list.forEach { GET("/none", handler::list) }
}
