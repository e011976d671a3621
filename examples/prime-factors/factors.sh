#!/bin/sh
# One JSON request comes on standard input, {"arguments": {"number": 360}, …}; one JSON result goes out.
# The hub has checked the arguments, so that a whole number is all that stands here.
number=$(sed -n 's/^{"arguments": *{"number": *\([0-9]\{1,16\}\)\(\.0\)\{0,1\}}.*/\1/p')
if [ -z "$number" ]; then
    echo '{"code": "NUMBER_UNREADABLE", "message": "The number is not written in digits."}'
    exit 1
fi
factor "$number" | sed 's/^[0-9]*: */{"factors": [/; s/\([0-9]\) /\1, /g; s/$/]}/'
