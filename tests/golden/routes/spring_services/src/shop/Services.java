package shop;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.stereotype.Component;
import org.springframework.stereotype.Service;

abstract class BaseOrders implements OrderService {
  public Object list() {
    return list(10);
  }
}

@Service
class Orders extends BaseOrders {
  public Object list(int limit) {
    return limit;
  }
}

@Component("fast")
class FastSender implements Sender {
  public void send() {}
}

@Component
class SlowSender implements Sender {
  public void send() {}
}

@Component
class Shelf implements Stock {
  public int count() {
    return 1;
  }
}

@Component
@Primary
class Warehouse implements Stock {
  public int count() {
    return 2;
  }
}

class SystemClock implements Clock {
  public int now() {
    return 1;
  }
}

class NullMeter implements Meter {
  public void count() {}
}

class RealMeter implements Meter {
  public void count() {}
}

abstract class BaseStore implements Store {}

class MemoryStore extends BaseStore {
  static MemoryStore open() {
    return null;
  }

  public void save() {}
}

class DayRates implements Rates {
  public int rate() {
    return 1;
  }
}

class NightRates implements Rates {
  public int rate() {
    return 2;
  }
}

@Configuration
class Beans {
  @Bean
  Clock clock() {
    return new SystemClock();
  }

  @Bean
  @ConditionalOnMissingBean
  Meter meter() {
    return new NullMeter();
  }

  @Bean
  @Primary
  @ConditionalOnProperty(name = "meter")
  Meter realMeter() {
    return new RealMeter();
  }

  @Bean
  MemoryStore store() {
    return MemoryStore.open();
  }

  @Bean
  Rates chosen() {
    if (System.nanoTime() > 0) {
      return new DayRates();
    }
    return new NightRates();
  }
}
