namespace Shop.Words;

using System;

public class Kept
{
    public Kept Next() => this;
}

public static class Wording
{
    public static int Half(this int number) => number;
    public static string Half(this string text) => text;
    public static string Half(this DateTime day) => "";
    public static string Half(this DateTime? day) => "";
    public static Kept Keep(this object whatever) => new Kept();
}

public class Teller
{
    private readonly string text = "a";

    public void Tell(DateTime day, DateTime? other, Stranger stranger)
    {
        5.Half();
        "a".Half();
        text.Half();
        day.Half();
        other.Half();
        new DateTime(1).Half();
        stranger.Keep().Next();
    }
}
