# name.pl - for tests/run and tests/prove: what a test is called in tests/times and where tests are told of
use strict;
use warnings;

# Its file's name; one with the sanitizers is another test.
sub name_of { ($_[0] =~ m{/asan/} ? 'asan/' : '') . ($_[0] =~ s{.*/}{}r) }

1;
