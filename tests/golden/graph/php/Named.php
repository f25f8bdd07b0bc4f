<?php

namespace Shop\Named;

class Ink { public function say() {} }
class Hue { public function say() {} }

class Box
{
    private Ink $Ink;
    protected Ink $spare;
    private Ink $Hue;
    private Hue $tone;

    public function __construct(private Hue $Tone, Ink $Ink) { $Ink->say(); }
    public function own() { $this->Ink->say(); }
    public function sibling() { $this->spare->say(); }
    public function wrong() { $this->Hue->say(); }
    public function right() { $this->tone->say(); $this->Tone->say(); }
    public function made() { $made = new Ink(); $made->say(); }
}

class Crate extends Box
{
    public function far(Box $box) { $this->spare->say(); }
}
