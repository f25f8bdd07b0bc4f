<?php

namespace Shop\Run;

use Shop\Model\Disk as Store;
use Shop\Model\{Item, Saver};
use function Shop\Model\helper;

function main(Saver $saver)
{
    $disk = Store::open();
    $disk->save(new Item());
    $saver->save(new Item);
    $saver->flush();
    helper(new Item())->close();
    $disk = unknown();
    $disk->close();
}
