<?php

use App\Http\Controllers\PageController;
use App\Http\Controllers\PhotoController;
use App\Http\Controllers\CommentController;

Route::apiResource('photos', PhotoController::class)->except('destroy');
Route::apiResource('photos.comments', CommentController::class, ['only' => ['index']]);
Route::apiResources(['boxes' => PhotoController::class], ['only' => ['index']]);
Route::delete('photos', [PhotoController::class, 'clear'])->prefix('all');
Route::group(['namespace' => 'Admin', 'prefix' => '/stats'], function () {
    Route::get('orders', 'OrderController@index');
});
