<?php

namespace Shop\Model;

interface Flusher { public function flush(): void; }

interface Saver extends Flusher { public function save(Item $item): void; }

trait Logs
{
    protected function log(string $text): void { $this->log($text); }
}

abstract class Base
{
    public function close(): void { $this->log("x"); }
    use Logs;
}

class Item
{
    public function touch(): static { return $this; }
}

class Disk extends Base implements Saver
{
    private ?Item $first = null;

    public function __construct(private Item $second, string $name = "x") { $this->third = new Item(); }

    public static function open(): self { return new self(new Item()); }

    public function save(Item $item): void
    {
        $item->touch()->touch();
        $this->first?->touch();
        $this->second->touch();
        $this->third->touch();
        $this->log("a");
        parent::close();
        self::check(1);
        static::open()->flush();
        helper($item);
        $closure = function ($item) { $item->unknownHere(); };
    }

    public function flush(): void { }

    private static function check(int $n): int { return $n > 0 ? self::check($n - 1) : 0; }
}

function helper(Item $item): Disk { return Disk::open(); }
