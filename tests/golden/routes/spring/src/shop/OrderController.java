package shop;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping(OrderController.BASE + "/orders")
class OrderController {
    static final String BASE = "/api";
    private static final String ONE = "/{id}";

    @GetMapping
    String list() { return helper(); }

    @PostMapping(consumes = "application/json")
    String make() { return ""; }

    @GetMapping(value = ONE, produces = "application/json")
    String show(@PathVariable int id) { return ""; }

    @RequestMapping(path = {ONE + "/pay", "/{id}/settle"}, method = {RequestMethod.POST, RequestMethod.PUT})
    String pay(@PathVariable int id) { return ""; }

    @RequestMapping("any")
    String any() { return ""; }

    @GetMapping(Paths.STATS)
    String stats() { return ""; }

    String helper() { return ""; }
}
