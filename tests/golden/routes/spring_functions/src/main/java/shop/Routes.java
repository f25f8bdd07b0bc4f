package shop;

import static org.springframework.web.reactive.function.server.RequestPredicates.GET;
import static org.springframework.web.reactive.function.server.RequestPredicates.POST;
import static org.springframework.web.reactive.function.server.RequestPredicates.accept;
import static org.springframework.web.reactive.function.server.RequestPredicates.path;
import static org.springframework.web.reactive.function.server.RouterFunctions.nest;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

import org.springframework.context.annotation.Bean;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;

class Routes {
    static final String ITEMS = "/items";
    private final OrderHandler handler;

    @Bean
    RouterFunction<ServerResponse> orders(OrderHandler handler) {
        return RouterFunctions.route()
            .GET("/orders", handler::list)
            .GET("/orders/{id}", accept(MediaType.APPLICATION_JSON), handler::show)
            .POST("/orders", request -> handler.create(request))
            .path("/admin", builder -> builder
                .DELETE("/orders/{id}", handler::remove)
                .nest(accept(MediaType.TEXT_HTML), inner -> inner.GET("/page", handler::list)))
            .nest(path("/v2"), () -> route().GET("/orders", this::second).build())
            .add(more())
            .filter((request, next) -> next.handle(request))
            .build();
    }

    @Bean
    RouterFunction<ServerResponse> items() {
        return route(GET(ITEMS).and(accept(MediaType.APPLICATION_JSON)), handler::list)
            .andRoute(POST("/items"), handler::create)
            .and(nest(path("/old").or(path("/older")), route(GET("/items").or(GET("/all")).and(accept(MediaType.TEXT_HTML)), handler::list)));
    }

    RouterFunction<ServerResponse> more() {
        return route().PUT("/more", handler::show).build();
    }

    RouterFunction<ServerResponse> unused() {
        return route().GET(handler.base() + "/x", handler::show).build();
    }

    void other(Map<String, String> map, Navigator navigator) {
        map.GET("/orders", handler::list);
        navigator.route("/none", handler::list);
    }

    Mono<ServerResponse> second(ServerRequest request) {
        return null;
    }
}
