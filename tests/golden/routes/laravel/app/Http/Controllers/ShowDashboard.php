<?php

namespace App\Http\Controllers;

class ShowDashboard
{
    public function __invoke() {}
}
