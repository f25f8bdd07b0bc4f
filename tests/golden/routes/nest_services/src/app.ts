import { Controller, Get, Inject, Module, Post } from '@nestjs/common';
import { CLOCK, Clock, Mail, OrdersService, RATES, Rates } from './contracts';
import { providers } from './providers';

@Controller('orders')
export class OrdersController {
  @Inject(CLOCK) private readonly clock: Clock;

  constructor(
    private readonly orders: OrdersService,
    @Inject('MAIL') private readonly mail: Mail,
    @Inject(RATES) private readonly rates: Rates,
    @Inject('ANY') private readonly any,
  ) {}

  @Get()
  list() {
    return this.orders.list();
  }

  @Post()
  send() {
    this.mail.send();
    return this.rates.rate();
  }

  @Get('now')
  now() {
    return this.clock.now() + this.any.list();
  }
}

@Module({ controllers: [OrdersController], providers })
export class AppModule {}
