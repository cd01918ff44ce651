/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which Medley this is. Said here only: CMakeLists.txt reads it. */
#ifndef MEDLEY_BASE_VERSION_H
#define MEDLEY_BASE_VERSION_H

#define MED_VERSION_MAJOR 0
#define MED_VERSION_MINOR 1
#define MED_VERSION_PATCH 0

#define MED_VERSION_NUMBER                                                                         \
    (MED_VERSION_MAJOR * 10000u + MED_VERSION_MINOR * 100u + MED_VERSION_PATCH)
#define MED_VERSION_TEXT_OF(major, minor, patch) #major "." #minor "." #patch
#define MED_VERSION_TEXT_(major, minor, patch) MED_VERSION_TEXT_OF(major, minor, patch)
#define MED_VERSION MED_VERSION_TEXT_(MED_VERSION_MAJOR, MED_VERSION_MINOR, MED_VERSION_PATCH)

#endif
