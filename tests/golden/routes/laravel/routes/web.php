<?php

use App\Http\Controllers\Admin;
use App\Http\Controllers\PageController;
use App\Http\Controllers\ShowDashboard;
use Illuminate\Support\Facades\Route;

Route::get('/', [PageController::class, 'home'])->name('home');
Route::get('dashboard', ShowDashboard::class)->middleware('auth');
Route::match(['get', 'post'], '/search/{term?}', 'PageController@search');
Route::view('/welcome', 'welcome');
Route::redirect('/old', '/');
Route::get('/closure', function () {
    return '';
});
Route::get(config('shop.path'), [PageController::class, 'home']);

Route::middleware(['auth', 'admin'])->prefix('admin')->name('admin.')->group(function () {
    Route::resource('orders', Admin\OrderController::class)->only(['index', 'show', 'update']);
    Route::controller(Admin\OrderController::class)->group(function () {
        Route::post('/orders/{order}/ship', 'ship');
    });
    Route::group(['prefix' => 'pages'], function () {
        Route::any('{page}', [\App\Http\Controllers\PageController::class, 'page']);
    });
});
