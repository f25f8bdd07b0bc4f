<?php
namespace Shop;

use Shop\Model as Things;
use Shop\Model\Item;

function spaces(Item\Big $big, Model\Item\Big $same): void
{
    $big->grow();
    $same->touch();
    new Item\Big();
    Model\Item\Big::make()->grow();
    Things\helper(new Things\Item());
    (new \Shop\Model\Item\Big())->grow();
}
