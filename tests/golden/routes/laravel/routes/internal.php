<?php

use App\Http\Controllers\PageController;

Route::get('ping', [PageController::class, 'home']);
