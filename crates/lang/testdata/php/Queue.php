<!doctype html>
<?php
declare(strict_types=1);

namespace App\Queue;

use InvalidArgumentException;

const LIMIT = 64;

/**
 * Items in order.
 */
#[Entity]
final class Queue extends Base implements Countable
{
    use Waits;

    /** How many at most. */
    public const MAX = 10;
    private array $items = [];

    public function __construct(private int $limit = self::MAX) {}

    /**
     * Adds an item.
     */
    #[Pure]
    public static function push(string $item): bool
    {
        $add = function ($x) { return $x; };
        return true;
    }
}

interface Store
{
    public function put(int $item): void;
}

trait Waits
{
    abstract protected function wait();
}

enum Mode: string
{
    case Fast = 'f';

    public function label(): string
    {
        return $this->value;
    }
}

// Counts.
function count_all(array $items): int
{
    return count($items);
}
