import { CLOCK, OrdersService, RATES } from './contracts';
import { DayRates, makeClock, NightRates, SmtpMail, StoredOrders } from './services';

export const providers = [
  StoredOrders,
  { provide: OrdersService, useClass: StoredOrders },
  { provide: 'MAIL', useFactory: () => new SmtpMail() },
  { provide: RATES, useFactory: (night: boolean) => (night ? new NightRates() : new DayRates()), inject: [] },
  { provide: CLOCK, useFactory: makeClock },
  { provide: 'ANY', useExisting: StoredOrders },
];
