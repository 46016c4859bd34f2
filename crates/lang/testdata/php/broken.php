<?php

function first(): int
{
    return 1;
}

class Second
{
    public function third( {
        return ;
    }

    public function fourth(): int
    {
        return 4;
    }
}

function fifth() { return 5; }
