<?php

namespace Shop\Trap;

use Shop\Model\Disk as Shelf;
use Shop\Model\Item;
use function Shop\Model\helper as assist;

class Left
{
    public function turn(): bool { return even(1); }
}

class Right
{
    private Left $next;

    /** @return bool */
    #[Marked]
    public function turn(): bool { return $this->next->turn(); }
}

final class FarRight extends Right
{
    public function turn(): bool { return parent::turn() && self::spin(); }
    private static function spin(): bool { return (new static())->turn(); }
}

function even(int $n): bool { return $n === 0 || odd($n - 1); }
function odd(int $n): bool { return $n !== 0 && even($n - 1); }

class Disk { public function save(mixed $item): void {} }

function run(Disk $disk, Shelf $shelf, ?Right $right, \Shop\Model\Disk $other): void
{
    $disk->save(1);
    $shelf->save(new Item());
    $right?->turn();
    $right = new Left();
    $right->turn();
    $other->flush();
    $even = fn(int $n) => $n;
    $even(2);
    assist(new Item());
    \Shop\Trap\odd(3);
    array_map(fn(Left $one) => $one->turn(), []);
}
