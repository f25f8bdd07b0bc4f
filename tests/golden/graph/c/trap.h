int even(int n);
int odd(int n);
