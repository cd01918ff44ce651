// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// boost::interprocess::message_queue: in shared memory of its own.
#include <cstdio>

#include <boost/interprocess/ipc/message_queue.hpp>
#include <unistd.h>

#include "exchange_peers.h"

namespace {

using boost::interprocess::create_only;
using boost::interprocess::message_queue;

// Nothing is thrown into C.
template <typename Act>
bool
without_exception(Act act)
{
    try {
        return act();
    } catch (const boost::interprocess::interprocess_exception &) {
        return false;
    }
}

bool
boost_open(peer_run *run)
{
    return without_exception([run] {
        char name[40];
        (void)std::snprintf(name, sizeof name, "medley-bench-%ld", static_cast<long>(getpid()));
        run->library =
            new message_queue(create_only, name, PEER_ELEMENTS_IN(run->bytes), run->bytes);
        return message_queue::remove(name);
    });
}

void
boost_close(peer_run *run)
{
    delete static_cast<message_queue *>(run->library);
}

bool
boost_send(peer_run *run, const void *message)
{
    return without_exception([run, message] {
        static_cast<message_queue *>(run->library)->send(message, run->bytes, 0);
        return true;
    });
}

bool
boost_receive(peer_run *run, void *message)
{
    return without_exception([run, message] {
        message_queue::size_type size;
        unsigned priority;
        static_cast<message_queue *>(run->library)->receive(message, run->bytes, size, priority);
        return size == run->bytes;
    });
}

} // namespace

extern "C" const peer peer_boost = {"boost::interprocess mq", boost_open, boost_close, boost_send,
                                    boost_receive};
