<?php
namespace Other;
function helper() { return 2; }
