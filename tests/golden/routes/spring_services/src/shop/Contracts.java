package shop;

interface OrderService {
  Object list();

  Object list(int limit);
}

interface Sender {
  void send();
}

interface Stock {
  int count();
}

interface Clock {
  int now();
}

interface Meter {
  void count();
}

interface Store {
  void save();
}

interface Rates {
  int rate();
}
