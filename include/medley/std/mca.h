/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Types and constants that the Multicore Association's interfaces share (MCAPI 2.0 and MRAPI 1.0,
 * "mca.h"). */
#ifndef MCA_H
#define MCA_H

#include <stddef.h>
#include <stdint.h> /* for programs that expect it of this header */

typedef int mca_int_t;
typedef signed char mca_int8_t;
typedef short mca_int16_t;
typedef int mca_int32_t;
typedef long long mca_int64_t;
typedef unsigned int mca_uint_t;
typedef unsigned char mca_uint8_t;
typedef unsigned short mca_uint16_t;
typedef unsigned int mca_uint32_t;
typedef unsigned long long mca_uint64_t;

typedef mca_uint8_t mca_boolean_t;
typedef mca_uint_t mca_node_t;
typedef mca_uint_t mca_domain_t;
typedef mca_uint_t mca_status_t;
typedef mca_uint_t mca_request_t; /* an operation that ends later */
typedef mca_uint_t mca_timeout_t; /* microseconds; 0 is at once, MCA_INFINITE is never */

#define MCA_TRUE 1
#define MCA_FALSE 0
#define MCA_NULL 0
#define MCA_INFINITE (~0u)
#define MCA_RETURN_VALUE_INVALID (~0u)
#define MCA_NODE_INVALID (~0u)
#define MCA_DOMAIN_INVALID (~0u)

#define MCA_IN const
#define MCA_OUT

#define MCA_DECL_ALIGNED __attribute__((aligned(32)))

#define MCA_ORG_ID_PSI 0
#define MCA_ORG_ID_FSL 1
#define MCA_ORG_ID_MGC 2
#define MCA_ORG_ID_TBA 3

#endif
