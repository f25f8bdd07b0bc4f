<?php

namespace App\Http\Controllers;

class PageController
{
    public function home() {}
    public function search($term) {}
    public function page($page) {}
}
