package shop;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class OrderController {
  private final OrderService orders;
  private final Sender slow;
  private final Sender byMail;
  @Autowired @Qualifier("fast") private Sender sender;
  @Autowired private Stock stock;
  @Autowired private Clock clock;
  @Autowired private Rates rates;
  @Autowired private Store store;
  @Autowired private Meter meter;

  OrderController(OrderService orders, @Qualifier("slowSender") Sender slow, Sender byMail) {
    this.orders = orders;
    this.slow = slow;
    this.byMail = byMail;
  }

  @GetMapping("/orders")
  Object list() {
    return orders.list();
  }

  @GetMapping("/orders/all")
  Object all() {
    return this.orders.list(7);
  }

  @PostMapping("/send")
  void send() {
    sender.send();
    slow.send();
    byMail.send();
  }

  @GetMapping("/stock")
  int stock() {
    Sender own = new FastSender();
    own.send();
    store.save();
    meter.count();
    return stock.count() + clock.now() + rates.rate();
  }
}
