/* Load from librdkafka, the C client that most languages use: produce, consume, latency,
 * transactions.
 *
 * Prints one line of JSON. The client is C so that it takes as little of the machine as it can:
 * what is measured is the broker.
 */
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what, const char *why) {
    fprintf(stderr, "load: %s: %s\n", what, why);
    exit(1);
}

static long failed_count;

static void delivered(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque) {
    (void)client;
    (void)opaque;
    if (message->err) {
        failed_count++;
        fprintf(stderr, "load: not delivered: %s\n", rd_kafka_err2str(message->err));
    }
}

/* Arguments of the form name=value are settings of the client. */
static rd_kafka_t *open_client(rd_kafka_type_t type, int argc, char **argv) {
    char error[512];
    rd_kafka_conf_t *settings = rd_kafka_conf_new();
    rd_kafka_conf_set_dr_msg_cb(settings, delivered);
    for (int i = 0; i < argc; i++) {
        char name[256], *equals = strchr(argv[i], '=');
        if (!equals || (size_t)(equals - argv[i]) >= sizeof(name)) die(argv[i], "not name=value");
        memcpy(name, argv[i], (size_t)(equals - argv[i]));
        name[equals - argv[i]] = 0;
        if (rd_kafka_conf_set(settings, name, equals + 1, error, sizeof(error))) die(name, error);
    }
    rd_kafka_t *client = rd_kafka_new(type, settings, error, sizeof(error));
    if (!client) die("client", error);
    return client;
}

/* Values look like JSON of a log line, so that compression has something to do. */
static char *values(size_t size, int count) {
    static const char *words[] = {"user", "click", "page", "https", "error", "session", "2026",
                                  "true", "null", "item", "price", "currency", "EUR", "device"};
    char *all = malloc(size * (size_t)count);
    unsigned seed = 42;
    for (size_t at = 0; at < size * (size_t)count;) {
        char word[48];
        int n = snprintf(word, sizeof(word), "\"%s\":\"%x\",", words[rand_r(&seed) % 14],
                         (unsigned)rand_r(&seed) & 0xffff);
        for (int i = 0; i < n && at < size * (size_t)count; i++) all[at++] = word[i];
    }
    return all;
}

/* produce TOPIC SIZE COUNT CLIENTS PARTITIONS name=value... */
static void produce(int argc, char **argv) {
    const char *topic = argv[0];
    size_t size = (size_t)atol(argv[1]);
    long count = atol(argv[2]);
    int clients = atoi(argv[3]), partitions = atoi(argv[4]), kinds = 1000;
    rd_kafka_t **all = malloc(sizeof(*all) * (size_t)clients);
    rd_kafka_topic_t **topics = malloc(sizeof(*topics) * (size_t)clients);
    char *data = values(size, kinds);
    for (int i = 0; i < clients; i++) {
        all[i] = open_client(RD_KAFKA_PRODUCER, argc - 5, argv + 5);
        topics[i] = rd_kafka_topic_new(all[i], topic, NULL);
        rd_kafka_produce(topics[i], 0, RD_KAFKA_MSG_F_COPY, data, size, NULL, 0, NULL);
    }
    for (int i = 0; i < clients; i++) rd_kafka_flush(all[i], 30000);
    double start = now_s();
    for (long i = 0; i < count; i++) {
        int which = (int)(i % clients);
        char *value = data + size * (size_t)(i % kinds);
        int to = (int)(i / clients % partitions);
        while (rd_kafka_produce(topics[which], to, RD_KAFKA_MSG_F_COPY, value, size, NULL, 0, NULL))
            rd_kafka_poll(all[which], 1);
        if (i % 256 < clients) rd_kafka_poll(all[which], 0);
    }
    for (int i = 0; i < clients; i++)
        if (rd_kafka_flush(all[i], 120000)) die("flush", "timed out");
    double seconds = now_s() - start;
    printf("{\"seconds\": %.6f, \"records\": %ld, \"failed\": %ld}\n", seconds, count,
           failed_count);
}

/* consume TOPIC COUNT name=value... */
static void consume(int argc, char **argv) {
    long count = atol(argv[1]), read = 0;
    double bytes = 0;
    rd_kafka_t *client = open_client(RD_KAFKA_CONSUMER, argc - 2, argv + 2);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, argv[0], NULL);
    double start = now_s();
    rd_kafka_consume_start(topic, 0, RD_KAFKA_OFFSET_BEGINNING);
    rd_kafka_message_t *messages[10000];
    while (read < count) {
        ssize_t got = rd_kafka_consume_batch(topic, 0, 10000, messages, 10000);
        if (got < 0) die("consume", rd_kafka_err2str(rd_kafka_last_error()));
        for (ssize_t i = 0; i < got; i++) {
            if (!messages[i]->err) {
                read++;
                bytes += (double)messages[i]->len;
            }
            rd_kafka_message_destroy(messages[i]);
        }
        if (now_s() - start > 300) die("consume", "timed out");
    }
    printf("{\"seconds\": %.6f, \"records\": %ld, \"bytes\": %.0f}\n", now_s() - start, read,
           bytes);
    rd_kafka_consume_stop(topic, 0);
}

static int ascending(const void *a, const void *b) {
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

/* latency TOPIC SIZE COUNT BOOTSTRAP: one record at a time, from produce to consume. */
static void latency(int argc, char **argv) {
    if (argc < 4) die("latency", "TOPIC SIZE COUNT BOOTSTRAP");
    size_t size = (size_t)atol(argv[1]);
    long count = atol(argv[2]), warm_up = count / 10;
    char bootstrap[256];
    snprintf(bootstrap, sizeof(bootstrap), "bootstrap.servers=%s", argv[3]);
    char *producing[] = {bootstrap, "acks=1", "linger.ms=0", "socket.nagle.disable=true"};
    char *consuming[] = {bootstrap, "fetch.wait.max.ms=1000", "fetch.min.bytes=1",
                         "socket.nagle.disable=true"};
    rd_kafka_t *producer = open_client(RD_KAFKA_PRODUCER, 4, producing);
    rd_kafka_t *consumer = open_client(RD_KAFKA_CONSUMER, 4, consuming);
    rd_kafka_topic_t *out = rd_kafka_topic_new(producer, argv[0], NULL);
    rd_kafka_topic_t *in = rd_kafka_topic_new(consumer, argv[0], NULL);
    double *taken = malloc(sizeof(double) * (size_t)(count + warm_up));
    char *value = values(size, 1);
    rd_kafka_produce(out, 0, RD_KAFKA_MSG_F_COPY, value, size, NULL, 0, NULL);
    rd_kafka_flush(producer, 30000);
    rd_kafka_consume_start(in, 0, RD_KAFKA_OFFSET_BEGINNING);
    rd_kafka_message_t *first = rd_kafka_consume(in, 0, 30000);
    if (!first || first->err) die("latency", "the first record did not arrive");
    rd_kafka_message_destroy(first);
    for (long i = 0; i < count + warm_up; i++) {
        double start = now_s();
        rd_kafka_produce(out, 0, RD_KAFKA_MSG_F_COPY, value, size, NULL, 0, NULL);
        for (;;) {
            rd_kafka_message_t *message = rd_kafka_consume(in, 0, 10000);
            if (!message) die("latency", "a record did not arrive");
            int is_record = !message->err;
            rd_kafka_message_destroy(message);
            if (is_record) break;
        }
        taken[i] = now_s() - start;
        rd_kafka_poll(producer, 0);
    }
    qsort(taken + warm_up, (size_t)count, sizeof(double), ascending);
    printf("{\"p50_us\": %.1f, \"p99_us\": %.1f}\n", taken[warm_up + count / 2] * 1e6,
           taken[warm_up + count * 99 / 100] * 1e6);
}

static void require(rd_kafka_error_t *error, const char *what) {
    if (error) die(what, rd_kafka_error_string(error));
}

/* transactions TOPIC RECORDS COUNT name=value...: one after the other, of one producer. */
static void transactions(int argc, char **argv) {
    long records = atol(argv[1]), count = atol(argv[2]), warm_up = count / 10 + 1;
    size_t size = 100;
    double start = 0;
    char *value = values(size, 1);
    rd_kafka_t *client = open_client(RD_KAFKA_PRODUCER, argc - 3, argv + 3);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, argv[0], NULL);
    require(rd_kafka_init_transactions(client, 60000), "init");
    for (long i = 0; i < count + warm_up; i++) {
        if (i == warm_up) start = now_s();
        require(rd_kafka_begin_transaction(client), "begin");
        for (long j = 0; j < records; j++)
            if (rd_kafka_produce(topic, 0, RD_KAFKA_MSG_F_COPY, value, size, NULL, 0, NULL))
                die("produce", rd_kafka_err2str(rd_kafka_last_error()));
        require(rd_kafka_commit_transaction(client, 60000), "commit");
    }
    printf("{\"seconds\": %.6f, \"transactions\": %ld}\n", now_s() - start, count);
}

int main(int argc, char **argv) {
    if (argc < 2) die("usage", "produce|consume|latency|transactions ...");
    if (!strcmp(argv[1], "produce") && argc >= 7) produce(argc - 2, argv + 2);
    else if (!strcmp(argv[1], "consume") && argc >= 4) consume(argc - 2, argv + 2);
    else if (!strcmp(argv[1], "latency") && argc >= 6) latency(argc - 2, argv + 2);
    else if (!strcmp(argv[1], "transactions") && argc >= 6) transactions(argc - 2, argv + 2);
    else die(argv[1], "not understood");
    return failed_count ? 1 : 0;
}
