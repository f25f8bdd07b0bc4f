<?php
namespace Shop\Model\Item;

class Big extends \Shop\Model\Item
{
    public static function make(): static { return new static(); }
    public function grow(): void {}
}
