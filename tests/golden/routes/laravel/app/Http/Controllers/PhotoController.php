<?php

namespace App\Http\Controllers;

class PhotoController
{
    public function index() {}
    public function store() {}
    public function show() {}
    public function update() {}
    public function clear() {}
}
