#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The long run: the sanitizers over everything, all tests with clang, every fuzz harness for a
# minute; then all tests with large numbers: so many processes killed at random moments, and every
# operation killed after every single one of its instructions (some 100,000 kills). How long that
# takes: CONTRIBUTING.md.
#
# usage: scripts/soak.sh
# MEDLEY_TEST_KILLS: processes killed at random moments (default here 100000)
# MEDLEY_TEST_EXCHANGE_KILLS: processes killed while they exchange, of each kind (default here 1000)
# MEDLEY_TEST_EXHAUSTIVE: 0 kills after a sample of the instructions only (default here 1)
# MEDLEY_TEST_TRANSACTIONS: what the channels of a topology move together (default here 10000000)
# MEDLEY_SOAK_TIMEOUT: seconds that one test may take (default 36000)
set -euo pipefail
cd "$(dirname "$0")/.."
export MEDLEY_TEST_KILLS=${MEDLEY_TEST_KILLS:-100000}
export MEDLEY_TEST_EXCHANGE_KILLS=${MEDLEY_TEST_EXCHANGE_KILLS:-1000}
export MEDLEY_TEST_EXHAUSTIVE=${MEDLEY_TEST_EXHAUSTIVE:-1}
export MEDLEY_TEST_TRANSACTIONS=${MEDLEY_TEST_TRANSACTIONS:-10000000}
timeout=${MEDLEY_SOAK_TIMEOUT:-36000}

# With their ordinary numbers: sanitizers are slow.
env -u MEDLEY_TEST_EXHAUSTIVE -u MEDLEY_TEST_KILLS -u MEDLEY_TEST_EXCHANGE_KILLS \
    -u MEDLEY_TEST_TRANSACTIONS scripts/check.sh asan-ubsan tsan clang fuzz

echo "== soak: $MEDLEY_TEST_KILLS kills, $MEDLEY_TEST_EXCHANGE_KILLS of each kind of exchange, MEDLEY_TEST_EXHAUSTIVE=$MEDLEY_TEST_EXHAUSTIVE"
cmake --preset release -B build/soak -DMEDLEY_TESTS=ON >/dev/null
cmake --build build/soak -j "$(nproc)"
# TIMEOUT of a test wins over ctest's, so the tests' own are lifted for this folder.
find build/soak -name CTestTestfile.cmake -exec \
    sed -i -E "s/(TIMEOUT \")[0-9]+\"/\1$timeout\"/" {} +
scripts/test.sh build/soak -j 1 --timeout "$timeout"
echo "soak: passed with $MEDLEY_TEST_KILLS kills, MEDLEY_TEST_EXHAUSTIVE=$MEDLEY_TEST_EXHAUSTIVE"
