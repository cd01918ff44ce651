/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What passes for XML, and what is said of what does not, with its line; whatever reads it then. */
#include <stdio.h>
#include <string.h>

#include "modules/xml_check.h"
#include "support/unit.h"

#define BEGIN "<?xml version=\"1.0\""

static void
expect(const char *text, const char *said, unsigned said_line)
{
    unsigned line = 0;
    const char *wrong = xml_check(text, strlen(text), NULL, &line);
    if (!wrong != !said || (said && (!strstr(wrong, said) || line != said_line))) {
        fail_msg("'%s' was said of line %u of: %s", wrong ? wrong : "", line, text);
    }
}

/* ---- Encodings ------------------------------------------------------------------------------- */

static void
declarations(void **state)
{
    static const char *const good[] = {
        BEGIN "?><a/>",
        BEGIN " \n encoding\t=\r\n'utf-8'\tstandalone='yes' ?><a/>",
        "<?xml version='1.1' standalone=\"no\"?><a/>",
        "<?xml-style sheet?><a/>",
        "\n<?xm l?><a/>",
    };
    static const char *const none[] = {
        "<?xml ?><a/>",
        "<?xml encoding='UTF-8'?><a/>",
        "<?xml version='2.0'?><a/>",
        "<?xml version='1.'?><a/>",
        "<?xml version='1.0?><a/>",
        "<?xml version='1.0\"?><a/>",
        "<?xml version '1.0'?><a/>",
        BEGIN " standalone='maybe'?><a/>",
        BEGIN " encoding=UTF-8?><a/>",
    };
    static const char *const endless[] = {
        BEGIN "encoding='UTF-8'?><a/>",
        BEGIN " standalone='no' encoding='UTF-8'?><a/>",
        BEGIN " of='mine'?><a/>",
        BEGIN "><a/>",
        BEGIN,
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        expect(good[i], NULL, 0);
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        expect(none[i], "the declaration of XML is none", 1);
    }
    for (size_t i = 0; i < sizeof endless / sizeof endless[0]; i++) {
        expect(endless[i], "the declaration of XML does not end", 1);
    }
    expect("\n" BEGIN "?><a/>", "an instruction stands where none of its name may", 2);
    expect("<?xml?><a/>", "an instruction stands where none of its name may", 1);
    expect("<a><?XML a?></a>", "an instruction stands where none of its name may", 1);
}

/* Those in which a tag is the bytes of ASCII, under the names that their readers know. */
static void
encodings(void **state)
{
    static const char *const good[] = {"UTF-8", "utf8",       "US-ASCII",
                                       "Ascii", "ISO-8859-1", "iso-latin-1"};
    static const char *const other[] = {"BOGUS",        "UTF-7", "UTF-16",      "UTF-80",
                                        "ISO-8859-15",  "UTF-",  "ISO-2022-JP", "",
                                        "windows-1252", "EBCDIC"};
    char text[100];
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        (void)snprintf(text, sizeof text, BEGIN " encoding=\"%s\"?><a/>", good[i]);
        expect(text, NULL, 0);
    }
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        (void)snprintf(text, sizeof text, BEGIN "\nencoding='%s'?>\n<a/>", other[i]);
        expect(text, "the encoding is not read here; want UTF-8, US-ASCII or ISO-8859-1", 2);
    }
    expect("\xff\xfe<\1", "no character of UTF-8", 1);
}

static void
characters(void **state)
{
    (void)state;
    /* Alone, as ISO-8859-1 has it, and as UTF-8 has it. */
    expect(BEGIN " encoding='ISO-8859-1'?>\n<a b='\xe9'/>", NULL, 0);
    expect(BEGIN " encoding='ISO-8859-1'?>\n<a\n b='\x02'/>", "there is a control character", 3);
    expect(BEGIN " encoding='UTF-8'?>\n<a b='\xe9'/>", "no character of UTF-8", 2);
    expect(BEGIN " encoding='US-ASCII'?>\n<a b='\xe9'/>", "no character of UTF-8", 2);
    expect(BEGIN "?>\n<a b='\xe9'/>", "no character of UTF-8", 2);
    expect("<a b='\xc3\xa9'/>", NULL, 0);
    /* The last that is one, and the two behind it, as bytes and by number. */
    expect("<a b='\xef\xbf\xbd'/>", NULL, 0);
    expect("<a\nb='\xef\xbf\xbe'/>", "no character of UTF-8", 2);
    expect("<a\nb='\xef\xbf\xbf'/>", "no character of UTF-8", 2);
    expect("<a b='&#xfffd;'/>", NULL, 0);
    expect("<a\nb='&#xfffe;'/>", "names no character", 2);
    expect("<a\nb='&#65535;'/>", "names no character", 2);
}

static void
marked_as_utf8(void **state)
{
    (void)state;
    expect("\xef\xbb\xbf<a/>", NULL, 0);
    expect("\xef\xbb\xbf" BEGIN " encoding='UTF-8'?><a/>", NULL, 0);
    expect("\xef\xbb\xbf" BEGIN "\nencoding='ISO-8859-1'?><a/>", "begins as UTF-8, and says", 2);
    expect("\xef\xbb\xbf\n<a b='\xe9'/>", "no character of UTF-8", 2);
    expect("\n\xef\xbb\xbf<a/>", "text stands outside of the document", 2);
    expect("\xef\xbb\xbf\xef\xbb\xbf<a/>", "text stands outside of the document", 1);
}

/* ---- Tags ------------------------------------------------------------------------------------ */

static void
document_types(void **state)
{
    (void)state;
    expect("<!DOCTYPE a>\n<a/>", NULL, 0);
    expect("<!DOCTYPE a SYSTEM \"b\">\n<!--c--><a/>", NULL, 0);
    expect("<!DOCTYPE a>\n<!DOCTYPE a>\n<a/>", "a document type does not stand in front", 2);
    expect("<a/>\n<!DOCTYPE a>", "a document type does not stand in front", 2);
}

/* Also the first and the last that are kept in mind. */
static void
attributes(void **state)
{
    enum {
        MOST = 64
    };
    char text[1000] = "<a";
    (void)state;
    for (int i = 0; i < MOST; i++) {
        (void)sprintf(text + strlen(text), "\nb%d=''", i);
    }
    size_t length = strlen(text);
    (void)sprintf(text + length, "><c b0=''/></a>");
    expect(text, NULL, 0);
    (void)sprintf(text + length, "\nb64=''/>");
    expect(text, "a tag has too many attributes", MOST + 2);
    (void)sprintf(text + length, "\nb63=''/>");
    expect(text, "a tag has an attribute twice", MOST + 2);
    (void)sprintf(text + length, "\nb0=''/>");
    expect(text, "a tag has an attribute twice", MOST + 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(declarations),   cmocka_unit_test(encodings),
        cmocka_unit_test(characters),     cmocka_unit_test(marked_as_utf8),
        cmocka_unit_test(document_types), cmocka_unit_test(attributes),
    };
    return cmocka_run_group_tests_name("modules/xml_check", tests, NULL, NULL);
}
