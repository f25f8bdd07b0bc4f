import { Injectable } from '@nestjs/common';
import { Clock, Mail, OrdersService, Rates } from './contracts';

@Injectable()
export class StoredOrders extends OrdersService {
  list() {
    return 1;
  }
}

export class SmtpMail implements Mail {
  send() {}
}

export class DayRates implements Rates {
  rate() {
    return 1;
  }
}

export class NightRates implements Rates {
  rate() {
    return 2;
  }
}

export class SystemClock implements Clock {
  now() {
    return 1;
  }
}

export function makeClock() {
  return new SystemClock();
}
