package shop;

class OrderHandler {
    Mono<ServerResponse> list(ServerRequest request) { return null; }

    Mono<ServerResponse> show(ServerRequest request) { return null; }

    Mono<ServerResponse> create(ServerRequest request) { return null; }

    Mono<ServerResponse> remove(ServerRequest request) { return null; }
}
