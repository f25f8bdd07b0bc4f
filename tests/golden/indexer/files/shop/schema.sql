-- The tables of the shop.
CREATE SCHEMA shop;

CREATE TYPE order_state AS ENUM ('open', 'paid', 'sent');

-- Who buys.
CREATE TABLE shop.customers (
    id serial PRIMARY KEY,
    name text NOT NULL,
    mail text UNIQUE
);

CREATE TABLE orders (
    id serial PRIMARY KEY,
    customer_id integer REFERENCES shop.customers (id),
    state order_state DEFAULT 'open',
    total_cents bigint NOT NULL
);

CREATE INDEX orders_by_customer ON orders (customer_id);

/* What is still to be paid. */
CREATE VIEW open_orders AS
SELECT customer_id, sum(total_cents) AS owed
FROM orders
WHERE state = 'open'
GROUP BY customer_id;

CREATE FUNCTION order_total(order_id integer) RETURNS bigint AS $$
    SELECT sum(price_cents * count) FROM order_lines WHERE order_lines.order_id = order_id;
$$ LANGUAGE sql;

INSERT INTO orders (customer_id, total_cents) VALUES (1, 1250);
