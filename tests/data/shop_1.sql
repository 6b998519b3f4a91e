-- The demo shop as files of an older make hold it; see test_orders.py.
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS customers (
    name TEXT PRIMARY KEY COLLATE NOCASE,
    email TEXT NOT NULL UNIQUE COLLATE NOCASE
);
CREATE TABLE IF NOT EXISTS products (
    sku TEXT PRIMARY KEY COLLATE NOCASE,
    title TEXT NOT NULL,
    price INTEGER NOT NULL CHECK (price > 0),
    stock INTEGER NOT NULL CHECK (stock >= 0)
);
CREATE TABLE IF NOT EXISTS orders (
    id INTEGER PRIMARY KEY,
    customer TEXT NOT NULL REFERENCES customers,
    sku TEXT NOT NULL REFERENCES products,
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    total INTEGER NOT NULL CHECK (total > 0),
    refunded INTEGER NOT NULL DEFAULT 0 CHECK (refunded BETWEEN 0 AND total),
    status TEXT NOT NULL,
    placed TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS orders_of ON orders (customer);
CREATE TABLE IF NOT EXISTS refunds (
    id INTEGER PRIMARY KEY,
    order_id INTEGER NOT NULL REFERENCES orders,
    amount INTEGER NOT NULL CHECK (amount > 0),
    reason TEXT NOT NULL,
    made TEXT NOT NULL
);
-- What was done under a key, so that the same call is not done twice.
CREATE TABLE IF NOT EXISTS done (
    key TEXT PRIMARY KEY,
    call TEXT NOT NULL,
    result TEXT NOT NULL
);
INSERT OR IGNORE INTO customers VALUES
    ('Ada Lovelace', 'ada@example.com'),
    ('Grace Hopper', 'grace@example.com'),
    ('Alan Turing', 'alan@example.com'),
    ('王小明', 'xiaoming@example.com');
INSERT OR IGNORE INTO products VALUES
    ('TEA-01', 'Green tea, 100 g', 850, 40),
    ('POT-01', 'Clay teapot', 3400, 6),
    ('CUP-02', 'Two porcelain cups', 1999, 12),
    ('LAMP-01', 'Reading lamp', 4950, 3);
INSERT OR IGNORE INTO orders VALUES
    (1001, 'Ada Lovelace', 'POT-01', 1, 3400, 0, 'delivered', '2026-01-12'),
    (1002, 'Ada Lovelace', 'TEA-01', 3, 2550, 0, 'shipped', '2026-02-03'),
    (1003, 'Grace Hopper', 'LAMP-01', 2, 9900, 4950, 'partly refunded', '2026-01-20'),
    (1004, 'Alan Turing', 'CUP-02', 1, 1999, 1999, 'refunded', '2025-12-30'),
    (1005, '王小明', 'TEA-01', 2, 1700, 0, 'delivered', '2026-02-10');
INSERT OR IGNORE INTO refunds VALUES
    (1, 1003, 4950, 'one lamp arrived broken', '2026-01-28'),
    (2, 1004, 1999, 'not as described', '2026-01-05');
PRAGMA user_version = 1;
COMMIT;
