<?php
namespace Whole;

function trim_all($text) { return $text; }
function helper() { return 1; }

class Disk {}

function run() {
    \trim_all("x");
    trim_all("y");
    \helper();
    \Other\helper();
    new \Whole\Disk();
}
