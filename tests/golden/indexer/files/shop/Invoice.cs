using System;
using System.Collections.Generic;
using System.Linq;

namespace Shop.Billing;

/// <summary>How an invoice is paid.</summary>
public enum PaymentKind
{
    Card,
    Transfer,
}

/// <summary>Where invoices are kept.</summary>
public interface IInvoiceStore
{
    Invoice? Find(string number);
    void Save(Invoice invoice);
}

/// <summary>One line of an invoice.</summary>
public record InvoiceLine(string Article, int Count, decimal Price);

/// <summary>What a customer owes.</summary>
[Serializable]
public sealed class Invoice
{
    public const int LinesMax = 500;
    private static readonly TimeSpan Term = TimeSpan.FromDays(30);
    private readonly List<InvoiceLine> _lines = new();

    public Invoice(string number, DateTime issued)
    {
        Number = number;
        Issued = issued;
    }

    public string Number { get; }
    public DateTime Issued { get; }

    /// <summary>The day after which a reminder is sent.</summary>
    public DateTime Due => Issued + Term;

    public decimal Total
    {
        get { return _lines.Sum(line => line.Count * line.Price); }
    }

    /// <summary>Adds a line; throws when the invoice is full.</summary>
    public void Add(InvoiceLine line)
    {
        if (_lines.Count >= LinesMax)
        {
            throw new InvalidOperationException("the invoice is full");
        }
        _lines.Add(line);
    }

    public static Invoice operator +(Invoice left, InvoiceLine right)
    {
        left.Add(right);
        return left;
    }

    private struct Range
    {
        public int From;
        public int To;
    }
}

public static class InvoiceExtensions
{
    public delegate void Paid(Invoice invoice);

    public static bool IsOverdue(this Invoice invoice, DateTime now) => now > invoice.Due;
}
