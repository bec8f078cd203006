"""Calls at the edges of what Go reads: hosts in brackets, bytes that are no UTF-8, numbers that have no room, long fractions.

generate.py edges asks each of them; a test replays the reference's answers (../data/edges.jsonl).
"""
CALLS = r'''
urlParse "http://[abc]/x"
urlParse "http://[::1]:80:90/x"
urlParse "http://[fe80::1%25en0]/x"
urlParse "http://[fe80::1%25en0]:8080/x"
urlParse "http://[1.2.3.4]/"
urlParse "http://a:1:2/"
urlParse "http://[::1/"
urlParse "http://[::1]a/"
urlParse "http://[::ffff:1.2.3.4]/"
urlParse "http://[]/"
urlParse "http://[::1%25]/"
urlParse "http://[fe80::1%en0]/"
urlParse "http://[v1.a]/"
urlParse "http://h:abc/"
urlParse "postgres://u:p@h1:1,h2:2/d"
urlParse "http://[www.x.org]:80/"
urlParse "http://x]y/"
urlParse "http://x[y/"
regexMatch "^.$" "\xff"
regexMatch "\\x{fffd}" "\xff"
regexReplaceAll "." "a\xffb" "x"
regexFind "[^a]" "a\xffb"
regexFindAll "." "\xff\xfe" -1
regexSplit "\\x{fffd}" "a\xffb" -1
regexReplaceAll "^[^b]+" "\xffb" "<$0>"
fromJson "{\"a\":1e400}"
fromJson "{\"a\":1e400,\"b\":2}"
fromJson "{\"b\":2,\"a\":-1e999}"
fromJsonArray "[1e400,2]"
fromJson "{\"a\":{\"c\":1e400},\"b\":2}"
fromJson "{\"a\":[1,1e400,3],\"b\":2}"
mustFromJson "{\"a\":1e400}"
printf "%99999999999999999999d" 1
printf "%10000000d" 1
printf "%1000001d" 1
printf "%.99999999999d" 1
printf "%#.0x" 1.0
printf "%#.0X" 3.75
printf "%#x" 1.0
printf "%#.0e" 1.0
printf "%#.0g" 1.0
printf "%#.0f" 2.0
printf "%#.0b" 2.0
printf "%*d" 5 42
printf "%.*f" 2 3.14159
durationRound "1.1234567890123456789s"
durationRound "0.0000000000000000001h"
durationRound "2h10m5s"
durationRound "1.123456789012345678901234h"
toDate "2006-01-02T15:04:05.999999999" "2006-01-02T15:04:05.1234567890"
toDate "15:04:05.000" "15:04:05.1234"
toDate "15:04:05" "15:04:61.5"
toDate "15:04:05.000" "15:04:05.-12"
toDate "2006-01-02 15:04:05.99" "2006-01-02 15:04:05.99999999999999"
mustToDate "15:04:05" "15:04:05.9999999999999999999"
mustToDate "15:04:05.000" "15:04:05.1 3"
substr 3 1 "abc"
substr 0 5 "abc"
substr -1 2 "abc"
substr 4 5 "abc"
substr 2 -1 "abc"
substr 5 -1 "abc"
substr -3 -1 "abc"
substr 1 3 "abc"
toDate "15:04:05.0000000000" "15:04:05.123456789x"
mustToDate "15:04:05.000" "15:04:05.+12"
mustToDate "15:04:05.0" "15:04:05.-"
mustToDate "15:04:05.00" "15:04:05,-0"
mustToDate "15:04:05,00" "15:04:05,-1"
mustToDate "15:04:05.000" "15:04:05.-1"
durationRound "0.3333333333333333333h"
mustDateModify "0.9223372036854775807h" (mustToDate "2006" "2020")
mustDateModify "0.830103483285477580700h" (mustToDate "2006" "2020")
mustDateModify "0.100000000000000000000h" (mustToDate "2006" "2020")
mustDateModify "9223372036854775807ns" (mustToDate "2006" "2020")
mustDateModify "1.7777777777777777777777s" (mustToDate "2006" "2020")
mustDateModify "2562047.99999999999999999999h" (mustToDate "2006" "2020")
printf "%.0x" 3.75
printf "%x %X %.2x %+x % x %8.1x|%-12x|%012x" 1.5 0.1 1.999 -0.0 5e-324 1.0 2.0 3.0
printf "%.20x" 1.1
printf "%#x %#.3X" 1.0 1.0
printf "%.1x" 1.03125
printf "%.1x" 1.96875
printf "%5000001d" 1
printf "%[99999999999]d" 1
printf "%[1]99999999999d" 1
printf "a%99999999999z more %d" 1 2
printf "%.99999999q" "x"
urlParse "HTTP://a:1:2/"
urlParse "https://u:p@[::1]:/x"
urlParse "x://[fe80::1%25%20a]/"
urlParse "x://[fe80::1%25a%41]/"
urlParse "x://[fe80::1%25a%3F]/"
urlParse "x://[::1]:%41/"
urlParse "//[::1.2.3.4]:1/"
urlParse "x://[1:2:3:4:5:6:7:1.2.3.4]/"
urlParse "x://[1:2:3:4:5:6:7::8:9]/"
urlParse "x://[1:2:3:4:5:6:7:8:]/"
urlParse "x://[12345::]/"
urlParse "x://[1::2::3]/"
urlParse "x://[1:2]/"
urlParse "x://[::256.1.1.1]/"
urlParse "x://[::01.1.1.1]/"
urlParse "x://[::1.1.1]/"
urlParse "x://[::1.1.1.1.1]/"
urlParse "x://[::1..1.1]/"
urlParse "x://[::g]/"
urlParse "x://[%25a]/"
urlParse "x://a:1:b/"
urlParse "x://a:b:1/"
urlParse "mongodb://a:1,b:2,c:3/x"
urlParse "x://[::1]b/"
urlParse "x://a]/"
urlParse "x://[::1]]/"
urlJoin (dict "scheme" "http" "host" "[::1%en0]:80" "path" "/x")
urlJoin (dict "scheme" "http" "host" "h" "userinfo" "a[b")
regexReplaceAll "(?P<a>[^x]+)" "\xe9x\xff\xfe" "[${a}]"
regexReplaceAllLiteral "\\W" "é\xe9-" "_"
regexFindAll "[^a-z]+" "a\xc3b\xc3(c" -1
regexFind "\\xff" "\xff"
regexMatch "[\\x{fff0}-\\x{ffff}]" "\xc0\x80"
regexSplit "." "\xff\xfe\xfd" 2
regexMatch "^\\S+$" "\xff\xfe"
regexFind "\\x{d7ff}." "\xed\x9f\xbf\xed\xa0\x80"
regexMatch "^...$" "\xed\xa0\x80"
regexMatch "\xff" "a"
fromJson "[1e400]"
fromJson "1e400"
fromJson "{\"a\":1e400,\"a\":2,\"Error\":3}"
fromJson "{\"a\":[{\"b\":-1e400},1e500]}"
fromJsonArray "{\"a\":1e400}"
fromJsonArray "1e400"
fromJsonArray "[[1e400]]"
mustFromJson "[1e400]"
fromYaml "a: 1e400"
fromYaml "a: -1e400"
fromYamlArray "[1e400]"
urlParse "%zz#f"
urlParse "//[a]b#"
urlParse "http://[x]/#f"
urlParse "http://x/#%zz"
urlParse "://x#f"
regexMatch "\\C" "é"
mustRegexMatch "\\C" "é"
regexFindAll "a|\\C" "éa" -1
regexSplit "\\C" "\xe2\x82" 2
mustRegexSplit "x\\C+" "x\xff" -1
regexReplaceAll "[\\C]" "a" "b"
mustRegexReplaceAll "\\Q\\C\\E" "a\\Cb" "-"
regexReplaceAll "\\B" "éa€" "-"
regexMatch "\\B" "aéa"
regexFindAll "\\B.?" "aéa \xe2\x82b" -1
regexFind "\\Bé?" "aéé"
regexSplit "\\B" "éé" -1
printf "%w" 1
printf "%w" (list 1 "a")
printf "%+5w" (dict "a" 1)
printf "%w" nil
toDate "002 2006" "59 2020"
mustToDate "002" "60.0"
mustToDate "2006 002" "2020 045"
mustToDate "2006 __2" "2020  45"
'''.strip().split("\n")
