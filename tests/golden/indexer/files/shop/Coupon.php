<?php

declare(strict_types=1);

namespace Shop\Pricing;

use DateTimeImmutable;
use InvalidArgumentException;

const COUPON_LENGTH = 8;

/** What a coupon takes off. */
enum Reduction: string
{
    case Percent = 'percent';
    case Amount = 'amount';
}

interface Discount
{
    public function apply(int $cents): int;
}

trait Expires
{
    private DateTimeImmutable $until;

    public function expired(DateTimeImmutable $now): bool
    {
        return $now > $this->until;
    }
}

/**
 * A code that makes an order cheaper.
 */
#[Entity]
final class Coupon implements Discount
{
    use Expires;

    public const MAX_PERCENT = 80;
    private static array $known = [];

    public function __construct(
        private string $code,
        private Reduction $kind,
        private int $value,
    ) {
        if (strlen($code) !== COUPON_LENGTH) {
            throw new InvalidArgumentException('a coupon has eight letters');
        }
    }

    /** The price after the reduction, never below zero. */
    public function apply(int $cents): int
    {
        return match ($this->kind) {
            Reduction::Percent => intdiv($cents * (100 - min($this->value, self::MAX_PERCENT)), 100),
            Reduction::Amount => max(0, $cents - $this->value),
        };
    }

    public static function find(string $code): ?self
    {
        return self::$known[$code] ?? null;
    }
}

// Reads the coupons of a season from a file.
function load_coupons(string $path): array
{
    $rows = array_map('str_getcsv', file($path));
    return array_map(fn ($row) => new Coupon(...$row), $rows);
}
