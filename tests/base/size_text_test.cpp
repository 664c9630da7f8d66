#include "core/base/size_text.h"

#include "core/base/error.h"
#include "tests/catch.h"

using namespace memwall;

TEST_CASE("sizes keep binary and decimal units apart") {
    CHECK(parse_bytes("8GiB", "").value == 8589934592);
    CHECK(parse_bytes("7.5 GB", "").value == 7500000000);
    CHECK(parse_bytes("512mib", "").value == 536870912);
    CHECK(parse_bytes("123", "").value == 123);
    CHECK(parse_bytes_per_second("68GB/s", "").value == Approx(68e9));
    CHECK(parse_ops_per_second("45TOPS", "").value == Approx(45e12));
    CHECK(parse_count("32Ki", "") == 32768);
    CHECK(parse_count("32k", "") == 32000);
}

TEST_CASE("a size that is none says where, what and what instead") {
    for (const char* bad : {"", "GiB", "-1GiB", "8 GiBs", "nan", "inf", "1e30GiB", "0x10"}) {
        INFO(bad);
        CHECK_THROWS_AS(parse_bytes(bad, "--reserve"), Error);
    }
    CHECK_THROWS_WITH(parse_bytes("8 gigs", "--reserve"),
                      "--reserve: '8 gigs'; expected a size such as 8GiB, 7.5GB or 512MiB");
    CHECK_THROWS_AS(parse_bytes_per_second("68GB", ""), Error);
}

TEST_CASE("sizes print with their unit and survive a round trip to three places") {
    CHECK(bytes_text(Bytes(4683073184)) == "4.36 GiB");
    CHECK(bytes_text(Bytes(124780544)) == "119.0 MiB");
    CHECK(bytes_text(Bytes(-512)) == "-512 B");
    CHECK(rate_text(BytesPerSecond(17.066e9)) == "17.1 GB/s");
    CHECK(count_text(-1234567) == "-1,234,567");
    CHECK(seconds_text(Seconds(200)) == "3 min 20 s");
}
