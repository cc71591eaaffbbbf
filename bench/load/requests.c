/* Load of raw requests: one thread, many connections, one request in flight on each.
 *
 * Requests are bytes that were prepared before, or built from a few fields, so that this program
 * takes as little of the machine as it can: what is measured is the broker. Prints one line of
 * JSON.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { JOIN_GROUP = 11, HEARTBEAT = 12, SYNC_GROUP = 14 };
enum { MEMBER_ID_REQUIRED = 79, REBALANCE_IN_PROGRESS = 27 };
enum { ANSWER_MAX = 1 << 17, TIMEOUT_MS = 60000, HEARTBEAT_MS = 5 };

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what, const char *why) {
    fprintf(stderr, "requests: %s: %s\n", what, why);
    exit(1);
}

/* A connection and the answer that it is reading. */
struct connection {
    int socket;
    size_t have;
    uint8_t answer[ANSWER_MAX];
};

static void open_connection(struct connection *connection, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int on = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connection->have = 0;
    connection->socket = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection->socket, (struct sockaddr *)&address, sizeof(address)))
        die("connect", strerror(errno));
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static void send_all(struct connection *connection, const uint8_t *data, size_t size) {
    while (size) {
        ssize_t sent = send(connection->socket, data, size, MSG_NOSIGNAL);
        if (sent < 0) die("send", strerror(errno));
        data += sent;
        size -= (size_t)sent;
    }
}

static uint32_t read_u32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, 4);
    return ntohl(value);
}

/* Reads what is there; the size of the answer behind its size field, once it is whole. */
static size_t receive(struct connection *connection) {
    ssize_t got = recv(connection->socket, connection->answer + connection->have,
                       ANSWER_MAX - connection->have, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return 0;
    if (got <= 0) die("receive", got ? strerror(errno) : "hung up");
    connection->have += (size_t)got;
    if (connection->have < 4) return 0;
    size_t size = read_u32(connection->answer);
    if (size + 4 > ANSWER_MAX) die("receive", "a large answer");
    if (connection->have < size + 4) return 0;
    connection->have = 0;
    return size;
}

/* exchange PORT CONNECTIONS COUNT, with frames on standard input: each is the size and bytes of a
 * request, then the size and bytes of what must follow the answer's correlation id, be it in
 * another order: brokers are free to change that of partitions. With `begin` instead of `exchange`
 * answers need only begin with these bytes: what follows may be offsets. */

struct frame {
    const uint8_t *request, *answer;
    size_t request_size, answer_size;
};

static struct frame *read_frames(size_t *count) {
    size_t size = 0, room = 1 << 20, room_frames = 1024;
    uint8_t *data = malloc(room);
    for (ssize_t got; (got = read(0, data + size, room - size)) > 0;) {
        size += (size_t)got;
        if (size == room) data = realloc(data, room *= 2);
    }
    struct frame *frames = malloc(sizeof(*frames) * room_frames);
    *count = 0;
    for (uint8_t *at = data; at < data + size;) {
        if (*count == room_frames) frames = realloc(frames, sizeof(*frames) * (room_frames *= 2));
        struct frame *frame = &frames[(*count)++];
        frame->request = at; /* with its size: as it is sent */
        frame->request_size = read_u32(at) + 4;
        at += frame->request_size;
        frame->answer_size = read_u32(at);
        frame->answer = at + 4;
        at += 4 + frame->answer_size;
    }
    if (!*count) die("frames", "none");
    return frames;
}

static int is_begin;

static int is_expected(const struct frame *frame, const uint8_t *answer, size_t size) {
    long difference = 0;
    if (is_begin)
        return size >= frame->answer_size && !memcmp(answer, frame->answer, frame->answer_size);
    if (size != frame->answer_size) return 0;
    for (size_t i = 0; i < size; i++) difference += answer[i] - frame->answer[i];
    return !difference;
}

static void exchange(int argc, char **argv) {
    int port = atoi(argv[0]), width = atoi(argv[1]);
    size_t count = (size_t)atol(argv[2]), frame_count, sent = 0, answered = 0;
    struct frame *frames = read_frames(&frame_count);
    struct connection *all = malloc(sizeof(*all) * (size_t)width);
    struct epoll_event *ready = calloc((size_t)width, sizeof(*ready));
    struct frame **asked = calloc((size_t)width, sizeof(*asked));
    int watched = epoll_create1(0);
    (void)argc;
    for (int i = 0; i < width; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
        open_connection(&all[i], port);
        if (epoll_ctl(watched, EPOLL_CTL_ADD, all[i].socket, &event)) die("epoll", strerror(errno));
    }
    double start = now_s();
    for (int i = 0; i < width && sent < count; i++) {
        asked[i] = &frames[sent++ % frame_count];
        send_all(&all[i], asked[i]->request, asked[i]->request_size);
    }
    while (answered < count) {
        int ready_count = epoll_wait(watched, ready, width, TIMEOUT_MS);
        if (ready_count <= 0) die("exchange", "timed out");
        for (int at = 0; at < ready_count; at++) {
            int i = (int)ready[at].data.u32;
            size_t size = receive(&all[i]);
            if (!size) continue;
            if (!is_expected(asked[i], all[i].answer + 8, size - 4))
                die("exchange", "another answer than expected");
            answered++;
            if (sent == count) continue;
            asked[i] = &frames[sent++ % frame_count];
            send_all(&all[i], asked[i]->request, asked[i]->request_size);
        }
    }
    printf("{\"seconds\": %.6f, \"answers\": %zu}\n", now_s() - start, answered);
}

/* group PORT MEMBERS GROUP: until all are in one generation and have their assignments. */

struct buffer {
    uint8_t bytes[1 << 17];
    size_t size;
};

static void put(struct buffer *buffer, const void *data, size_t size) {
    if (buffer->size + size > sizeof(buffer->bytes)) die("group", "a large request");
    memcpy(buffer->bytes + buffer->size, data, size);
    buffer->size += size;
}

static void put_i16(struct buffer *buffer, int value) {
    uint16_t network = htons((uint16_t)value);
    put(buffer, &network, 2);
}

static void put_i32(struct buffer *buffer, int32_t value) {
    uint32_t network = htonl((uint32_t)value);
    put(buffer, &network, 4);
}

static void put_string(struct buffer *buffer, const char *text) {
    put_i16(buffer, (int)strlen(text));
    put(buffer, text, strlen(text));
}

static void put_bytes(struct buffer *buffer, const void *data, size_t size) {
    put_i32(buffer, (int32_t)size);
    put(buffer, data, size);
}

static void begin(struct buffer *buffer, int api_key, int version) {
    buffer->size = 0;
    put_i32(buffer, 0); /* the size, known in the end */
    put_i16(buffer, api_key);
    put_i16(buffer, version);
    put_i32(buffer, 1);
    put_string(buffer, "bench");
}

static void end(struct buffer *buffer, struct connection *connection) {
    uint32_t size = htonl((uint32_t)buffer->size - 4);
    memcpy(buffer->bytes, &size, 4);
    send_all(connection, buffer->bytes, buffer->size);
}

struct member {
    struct connection connection;
    char id[256];
    int generation, asked, is_settled;
    double heartbeat_at;
};

/* What a consumer of the topic "bench" says: its subscription, and its part of the topic. */
static const char SUBSCRIPTION[] = "\0\1\0\0\0\1\0\5bench\377\377\377\377\0\0\0\0";
static const char ASSIGNMENT[] = "\0\1\0\0\0\1\0\5bench\0\0\0\1\0\0\0\0\377\377\377\377";

static void join(struct member *member, const char *group) {
    struct buffer request;
    begin(&request, JOIN_GROUP, 5);
    put_string(&request, group);
    put_i32(&request, 600000); /* session timeout: longer than a benchmark */
    put_i32(&request, 600000); /* rebalance timeout */
    put_string(&request, member->id);
    put_i16(&request, -1);
    put_string(&request, "consumer");
    put_i32(&request, 1);
    put_string(&request, "range");
    put_bytes(&request, SUBSCRIPTION, sizeof(SUBSCRIPTION) - 1);
    member->asked = JOIN_GROUP;
    end(&request, &member->connection);
}

/* The leader of the generation assigns; `ids` are the members that it was told of. */
static void sync_group(struct member *member, const char *group, char (*ids)[256], int count) {
    struct buffer request;
    begin(&request, SYNC_GROUP, 3);
    put_string(&request, group);
    put_i32(&request, member->generation);
    put_string(&request, member->id);
    put_i16(&request, -1);
    put_i32(&request, count);
    for (int i = 0; i < count; i++) {
        put_string(&request, ids[i]);
        put_bytes(&request, ASSIGNMENT, sizeof(ASSIGNMENT) - 1);
    }
    member->asked = SYNC_GROUP;
    end(&request, &member->connection);
}

static void heartbeat(struct member *member, const char *group) {
    struct buffer request;
    begin(&request, HEARTBEAT, 3);
    put_string(&request, group);
    put_i32(&request, member->generation);
    put_string(&request, member->id);
    put_i16(&request, -1);
    member->asked = HEARTBEAT;
    end(&request, &member->connection);
}

static int take_i16(const uint8_t **at) {
    *at += 2;
    return (int16_t)((*at)[-2] << 8 | (*at)[-1]);
}

static int take_i32(const uint8_t **at) {
    *at += 4;
    return (int32_t)read_u32(*at - 4);
}

static void take_string(const uint8_t **at, char *text) {
    int size = take_i16(at);
    if (size > 255) die("group", "a long name");
    if (size > 0) memcpy(text, *at, (size_t)size);
    text[size > 0 ? size : 0] = 0;
    *at += size > 0 ? size : 0;
}

struct group {
    const char *name;
    int size, settled, generation, full_generation;
    char (*ids)[256];
};

static void joined(struct group *group, struct member *member, const uint8_t *at) {
    char ignored[256], leader[256];
    at += 4; /* throttle time */
    int error = take_i16(&at);
    int generation = take_i32(&at);
    take_string(&at, ignored);
    take_string(&at, leader);
    take_string(&at, member->id);
    if (error == MEMBER_ID_REQUIRED) {
        join(member, group->name);
        return;
    }
    if (error) die("join", "refused");
    member->generation = group->generation = generation;
    int count = take_i32(&at);
    for (int i = 0; i < count; i++) {
        take_string(&at, group->ids[i]);
        take_string(&at, ignored);
        int size = take_i32(&at);
        at += size;
    }
    if (count == group->size) group->full_generation = generation;
    sync_group(member, group->name, group->ids, count);
}

static void answered(struct group *group, struct member *member) {
    const uint8_t *at = member->connection.answer + 8;
    if (member->asked == JOIN_GROUP) {
        joined(group, member, at);
        return;
    }
    at += 4; /* throttle time */
    int error = take_i16(&at), is_full = member->generation == group->full_generation;
    if (error == REBALANCE_IN_PROGRESS) {
        join(member, group->name);
    } else if (error) {
        die("group", member->asked == HEARTBEAT ? "heartbeat refused" : "sync refused");
    } else if (is_full) {
        member->asked = 0;
        member->is_settled = 1;
        group->settled++;
    } else { /* more are to come: be told soon */
        member->asked = 0;
        member->heartbeat_at = now_s() + HEARTBEAT_MS / 1e3;
    }
}

static void form_group(int argc, char **argv) {
    struct group group = {.name = argv[2], .size = atoi(argv[1]), .full_generation = -1};
    struct member *members = calloc((size_t)group.size, sizeof(*members));
    struct pollfd *polled = calloc((size_t)group.size, sizeof(*polled));
    (void)argc;
    group.ids = malloc(sizeof(*group.ids) * (size_t)group.size);
    for (int i = 0; i < group.size; i++) {
        open_connection(&members[i].connection, atoi(argv[0]));
        polled[i] = (struct pollfd){.fd = members[i].connection.socket, .events = POLLIN};
    }
    /* A connection counts as one when it has been answered: members have asked for their
     * coordinator before they join. */
    for (int i = 0; i < group.size; i++) heartbeat(&members[i], group.name);
    for (int i = 0; i < group.size; i++)
        while (!receive(&members[i].connection))
            if (poll(&polled[i], 1, TIMEOUT_MS) <= 0) die("group", "not connected");
    double start = now_s();
    for (int i = 0; i < group.size; i++) join(&members[i], group.name);
    while (group.settled < group.size) {
        if (now_s() - start > TIMEOUT_MS / 1e3) die("group", "not stable");
        if (poll(polled, (nfds_t)group.size, HEARTBEAT_MS) < 0) die("poll", strerror(errno));
        for (int i = 0; i < group.size; i++) {
            struct member *member = &members[i];
            if (polled[i].revents && receive(&member->connection)) answered(&group, member);
            if (!member->asked && !member->is_settled && now_s() >= member->heartbeat_at)
                heartbeat(member, group.name);
        }
    }
    printf("{\"seconds\": %.6f, \"generation\": %d}\n", now_s() - start, group.generation);
}

int main(int argc, char **argv) {
    is_begin = argc == 5 && !strcmp(argv[1], "begin");
    if (argc == 5 && (is_begin || !strcmp(argv[1], "exchange"))) exchange(argc - 2, argv + 2);
    else if (argc == 5 && !strcmp(argv[1], "group")) form_group(argc - 2, argv + 2);
    else die("usage", "exchange|begin PORT CONNECTIONS COUNT | group PORT MEMBERS GROUP");
    return 0;
}
