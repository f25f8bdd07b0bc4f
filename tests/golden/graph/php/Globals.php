<?php
function trim_all($text) { return $text; }
