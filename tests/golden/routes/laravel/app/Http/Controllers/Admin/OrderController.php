<?php

namespace App\Http\Controllers\Admin;

class OrderController
{
    public function index() {}
    public function show() {}
    public function update() {}
    public function ship() {}
}
