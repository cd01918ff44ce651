/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program as it was written for MCAPI 1.x: a node that sends itself messages, packets and
 * scalars. It ends with 0, or says which line was wrong. */
#include <mcapi_v1000_to_v2000.h>
#include <stdio.h>
#include <string.h>

#define NODE 5
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "version_1.c:%d: %s\n", __LINE__, #condition);                   \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static mcapi_status_t status;
static mcapi_request_t request;
static size_t size;

static int
ends(void)
{
    return status == MCAPI_SUCCESS && mcapi_wait(&request, &size, &status, MCAPI_INFINITE) &&
           status == MCAPI_SUCCESS;
}

static int
messages(mcapi_endpoint_t from, mcapi_endpoint_t to)
{
    char text[24] = "one of twenty-four";
    char received[24] = "";
    mcapi_request_t second;
    mcapi_request_t *both[2] = {&request, &second};
    mcapi_msg_recv_i(to, received, sizeof received, &request, &status);
    EXPECT(status == MCAPI_SUCCESS);
    EXPECT(!mcapi_wait(&request, &size, &status, 1000) && status == MCAPI_EREQ_TIMEOUT);
    EXPECT(!mcapi_test(&request, &size, &status) && status == MCAPI_INCOMPLETE);
    mcapi_msg_recv_i(to, received, sizeof received, &second, &status);
    EXPECT(mcapi_wait_any(2, both, &size, &status, 1000) == -1 && status == MCAPI_EREQ_TIMEOUT);
    mcapi_msg_send(from, to, text, sizeof text, 1, &status);
    EXPECT(mcapi_wait_any(2, both, &size, &status, MCAPI_INFINITE) == 0);
    EXPECT(status == MCAPI_SUCCESS && size == sizeof text && strcmp(received, text) == 0);
    mcapi_cancel(&second, &status);
    EXPECT(status == MCAPI_SUCCESS);
    mcapi_msg_send(from, to, text, sizeof text, 1, &status);
    EXPECT(mcapi_msg_available(to, &status) == 1);
    mcapi_msg_recv(to, received, 4, &size, &status);
    EXPECT(status == MCAPI_ETRUNCATED && size == 4);
    mcapi_cancel(&request, &status);
    EXPECT(status == MCAPI_ENOTREQ_HANDLE);
    return 0;
}

static int
packets(mcapi_endpoint_t from, mcapi_endpoint_t to)
{
    mcapi_pktchan_send_hndl_t sender;
    mcapi_pktchan_recv_hndl_t receiver;
    void *packet;
    mcapi_connect_pktchan_i(from, to, &request, &status);
    EXPECT(ends());
    mcapi_open_pktchan_send_i(&sender, from, &request, &status);
    EXPECT(ends());
    mcapi_open_pktchan_recv_i(&receiver, to, &request, &status);
    EXPECT(ends());
    mcapi_pktchan_send(sender, "packet", 7, &status);
    EXPECT(mcapi_pktchan_available(receiver, &status) == 1);
    mcapi_pktchan_recv(receiver, &packet, &size, &status);
    EXPECT(status == MCAPI_SUCCESS && size == 7 && strcmp((char *)packet, "packet") == 0);
    mcapi_pktchan_free(packet, &status);
    EXPECT(status == MCAPI_SUCCESS);
    mcapi_pktchan_free(packet, &status);
    EXPECT(status == MCAPI_ENOT_VALID_BUF);
    mcapi_packetchan_send_close_i(sender, &request, &status);
    EXPECT(ends());
    mcapi_packetchan_recv_close_i(receiver, &request, &status);
    EXPECT(ends());
    mcapi_packetchan_recv_close_i(receiver, &request, &status);
    EXPECT(status == MCAPI_ENOT_OPEN);
    return 0;
}

static int
scalars(mcapi_endpoint_t from, mcapi_endpoint_t to)
{
    mcapi_sclchan_send_hndl_t sender;
    mcapi_sclchan_recv_hndl_t receiver;
    mcapi_connect_sclchan_i(from, to, &request, &status);
    EXPECT(ends());
    mcapi_open_sclchan_send_i(&sender, from, &request, &status);
    EXPECT(ends());
    mcapi_open_sclchan_recv_i(&receiver, to, &request, &status);
    EXPECT(ends());
    mcapi_sclchan_send_uint32(sender, 77, &status);
    (void)mcapi_sclchan_recv_uint16(receiver, &status);
    EXPECT(status == MCAPI_ESCL_SIZE);
    EXPECT(mcapi_sclchan_recv_uint32(receiver, &status) == 77 && status == MCAPI_SUCCESS);
    mcapi_sclchan_send_close_i(sender, &request, &status);
    EXPECT(ends());
    mcapi_sclchan_recv_close_i(receiver, &request, &status);
    EXPECT(ends());
    return 0;
}

static int
endpoints(mcapi_endpoint_t from, mcapi_endpoint_t to)
{
    mcapi_endpoint_t found;
    mcapi_uint_t priorities = 2;
    EXPECT(mcapi_get_endpoint(NODE, 1, &status) == from);
    mcapi_get_endpoint_i(NODE, 2, &found, &request, &status);
    EXPECT(ends());
    EXPECT(found == to);
    (void)mcapi_create_endpoint(1, &status);
    EXPECT(status == MCAPI_EENDP_ISCREATED);
    mcapi_set_endpoint_attribute(to, MCAPI_ENDP_ATTR_NUM_PRIORITIES, &priorities, sizeof priorities,
                                 &status);
    EXPECT(status == MCAPI_SUCCESS);
    priorities = 0;
    mcapi_get_endpoint_attribute(to, MCAPI_ENDP_ATTR_NUM_PRIORITIES, &priorities, sizeof priorities,
                                 &status);
    EXPECT(status == MCAPI_SUCCESS && priorities == 2);
    priorities = 4;
    mcapi_set_endpoint_attribute(to, MCAPI_ENDP_ATTR_NUM_PRIORITIES, &priorities, sizeof priorities,
                                 &status);
    return 0;
}

int
main(void)
{
    mcapi_version_t version;
    mcapi_initialize(NODE, NULL, &status);
    EXPECT(status == MCAPI_EPARAM);
    mcapi_initialize(NODE, &version, &status);
    EXPECT(status == MCAPI_SUCCESS && version == MCAPI_VERSION);
    mcapi_initialize(NODE, &version, &status);
    EXPECT(status == MCAPI_INITIALIZED);
    EXPECT(mcapi_get_node_id(&status) == NODE);
    mcapi_endpoint_t from = mcapi_create_endpoint(1, &status);
    mcapi_endpoint_t to = mcapi_create_endpoint(2, &status);
    EXPECT(status == MCAPI_SUCCESS);
    if (endpoints(from, to) || messages(from, to) || packets(from, to) || scalars(from, to)) {
        return 1;
    }
    mcapi_delete_endpoint(from, &status);
    EXPECT(status == MCAPI_SUCCESS);
    mcapi_finalize(&status);
    EXPECT(status == MCAPI_SUCCESS);
    (void)mcapi_get_node_id(&status);
    EXPECT(status == MCAPI_ENODE_NOTINIT);
    return 0;
}
