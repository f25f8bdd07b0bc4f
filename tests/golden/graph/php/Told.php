<?php
namespace Shop\Told;

use Shop\Model\Item;

class Left { public function turn(): void {} }
class Right { public function turn(): void {} }

/**
 * @property-read Left $left
 */
class Box
{
    /**
     * @param Left[] $all
     * @param Right|null $one
     * @param Left $said
     * @return array<int, Left>
     */
    public function take(array $all, $one, Right $said)
    {
        foreach ($all as $each) {
            $each->turn();
        }
        $one->turn();
        $said->turn();
        $this->left->turn();
        return $all;
    }

    /** @return $this */
    public function same() { return other($this); }

    /**
     * @template TValue
     * @param TValue $value
     * @return TValue
     */
    public function kept($value) { return $value; }

    public function run(): void
    {
        foreach ($this->take([], null, new Right()) as $one) {
            $one->turn();
        }
        $this->same()->same();
        $this->kept(1);
    }
}

/** @return Item */
function made() { return unknown(); }

made()->touch();
