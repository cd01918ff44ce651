/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The items of an image: what one object has. For image.c. */
#ifndef MEDLEY_MRAPI_IMAGE_ITEM_H
#define MEDLEY_MRAPI_IMAGE_ITEM_H

#include "medley/status.h"
#include "mrapi/image.h"
#include "mrapi/image_text.h"

const char *med_image_section_name(med_image_section section);
/* The item that begins on a line ("- key: value") of the reader's section, with those that go on
 * below it. MEDLEY_ERR_ARGUMENT: there is something wrong with it, which was told. */
medley_status_t
med_image_item_read(med_image_reader *reader, const med_line *first, med_image_item *item);

#endif
