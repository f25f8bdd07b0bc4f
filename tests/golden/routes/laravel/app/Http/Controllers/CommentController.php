<?php

namespace App\Http\Controllers;

class CommentController
{
    public function index() {}
}
