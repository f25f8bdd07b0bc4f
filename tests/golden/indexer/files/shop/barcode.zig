//! Reads and checks bar codes.
const std = @import("std");
const mem = std.mem;

/// Digits of a code.
pub const digits_max: usize = 13;
var scanned: u64 = 0;

pub const BarcodeError = error{
    TooShort,
    WrongCheckDigit,
};

/// What kind of code it is.
pub const Kind = enum { ean8, ean13 };

pub const Value = union(enum) {
    number: u64,
    text: []const u8,
};

/// A code that was read.
pub const Barcode = struct {
    kind: Kind,
    number: u64,

    const Self = @This();

    /// Reads a code from text.
    pub fn parse(text: []const u8) BarcodeError!Barcode {
        if (text.len < 8) return BarcodeError.TooShort;
        var number: u64 = 0;
        for (text) |letter| {
            number = number * 10 + (letter - '0');
        }
        scanned += 1;
        return Barcode{ .kind = kindOf(text.len), .number = number };
    }

    pub fn eql(self: Self, other: Self) bool {
        return self.number == other.number;
    }
};

fn kindOf(len: usize) Kind {
    return if (len == 8) .ean8 else .ean13;
}

test "a short code is refused" {
    try std.testing.expectError(BarcodeError.TooShort, Barcode.parse("123"));
}
