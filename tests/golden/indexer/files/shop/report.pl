#!/usr/bin/perl
# Prints what was sold in a month, one line for each article.
use strict;
use warnings;

my $month = shift or die "usage: report.pl MONTH\n";
my %sold;

# Reads the cash register's log; lines that are no sales are passed over.
sub read_log {
    my ($path) = @_;
    open(my $log, '<', $path) or die "cannot read $path: $!";
    while (my $line = <$log>) {
        next unless $line =~ /^SALE\s+(\S+)\s+(\d+)\s+(\S+)/;
        my ($date, $count, $article) = ($1, $2, $3);
        $sold{$article} += $count if index($date, $month) == 0;
    }
    close($log);
}

sub print_report {
    for my $article (sort { $sold{$b} <=> $sold{$a} } keys %sold) {
        printf("%-20s %6d\n", $article, $sold{$article});
    }
}

read_log('register.log');
print_report();
