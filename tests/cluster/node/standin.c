/* A stand-in for every workload image: answers any path with 200 on port 8000, ends where a real one would, and fails
 * as its environment asks. Statically linked, so that it is a whole image.
 *
 *   standin                serves until SIGTERM
 *   standin migrate|init   ends at once
 *   standin pull           writes a file of STANDIN_PULL_BYTES below STACKGATE_PULL_TARGET and ends; so does a run
 * without arguments where that variable is set, which is how a cache's Job runs
 *
 * Environment:
 *   STANDIN_EXIT=WORD:CODE   the run named WORD (serve, migrate, init, pull) ends with CODE
 *   STANDIN_DELAY=SECONDS    … after that long; also how long a good migrate, init or pull takes
 *   STANDIN_ALLOCATE=MIB     takes and touches that much memory first
 *   STANDIN_READY=no         readiness answers 503
 *
 * Requests: /v1/health/live always 200; /standin/ready and /standin/not-ready switch readiness; /standin/exit/CODE
 * ends; /standin/environment and /standin/file/PATH show what the pod was given; /metrics counts requests; else 200.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

extern char** environ;
static int ready = 1;
static unsigned long requests = 0;

static void leave(int number) {
  (void)number;
  _exit(0);
}

static const char* variable(const char* name, const char* otherwise) {
  const char* value = getenv(name);
  return value && *value ? value : otherwise;
}

/* Sleeps, but leaves on SIGTERM as the first process of a container must arrange for itself. */
static void wait_seconds(const char* text) { usleep((useconds_t)(strtod(text, 0) * 1e6)); }

static void write_all(int out, const char* bytes, size_t size) {
  while (size > 0) {
    ssize_t written = write(out, bytes, size);
    if (written <= 0) return;
    bytes += written, size -= (size_t)written;
  }
}

static void answer(int peer, const char* status, const char* body, size_t size) {
  char head[160];
  int length = snprintf(head, sizeof head,
                        "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
                        status, size);
  write_all(peer, head, (size_t)length);
  write_all(peer, body, size);
}
static void answer_text(int peer, const char* status, const char* text) { answer(peer, status, text, strlen(text)); }

static void show_environment(int peer) {
  static char text[1 << 17];
  size_t used = 0;
  for (char** entry = environ; *entry && used + strlen(*entry) + 2 < sizeof text; ++entry)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s\n", *entry);
  answer(peer, "200 OK", text, used);
}

static void show_file(int peer, const char* path) {
  static char text[1 << 16];
  int in = open(path, O_RDONLY);
  ssize_t size = in < 0 ? -1 : read(in, text, sizeof text);
  if (in >= 0) close(in);
  if (size < 0)
    answer_text(peer, "404 Not Found", strerror(errno));
  else
    answer(peer, "200 OK", text, (size_t)size);
}

static void serve_one(int peer) {
  char request[8192], path[4096] = "";
  struct timeval limit = {.tv_sec = 2};
  setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  size_t size = 0;
  while (size < sizeof request - 1) {
    ssize_t got = read(peer, request + size, sizeof request - 1 - size);
    if (got <= 0) return;
    size += (size_t)got;
    request[size] = 0;
    if (strstr(request, "\r\n\r\n")) break;
  }
  if (sscanf(request, "%*15s %4095s", path) != 1) return;
  ++requests;
  char counted[80];
  if (!strcmp(path, "/standin/ready")) ready = 1;
  if (!strcmp(path, "/standin/not-ready")) ready = 0;
  if (!strncmp(path, "/standin/exit/", 14)) _exit(atoi(path + 14));
  if (!strcmp(path, "/standin/environment"))
    show_environment(peer);
  else if (!strncmp(path, "/standin/file/", 14))
    show_file(peer, path + 13);
  else if (!strcmp(path, "/metrics") || !strcmp(path, "/v1/metrics")) {
    snprintf(counted, sizeof counted, "# TYPE standin_requests counter\nstandin_requests_total %lu\n", requests);
    answer_text(peer, "200 OK", counted);
  } else if (!ready && strstr(path, "/health") && !strstr(path, "/live"))
    answer_text(peer, "503 Service Unavailable", "not ready\n");
  else
    answer_text(peer, "200 OK", "ok\n");
}

static int serve(void) {
  int yes = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in here = {.sin_family = AF_INET,
                             .sin_port = htons((unsigned short)atoi(variable("STANDIN_PORT", "8000")))};
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(listener, (struct sockaddr*)&here, sizeof here) != 0 || listen(listener, 64) != 0) {
    perror("standin: cannot listen");
    return 1;
  }
  printf("standin: serving\n");
  fflush(stdout);
  for (;;) {
    int peer = accept(listener, 0, 0);
    if (peer < 0) continue;
    serve_one(peer);
    close(peer);
  }
}

static int pull(void) {
  char path[4096], block[65536];
  long left = atol(variable("STANDIN_PULL_BYTES", "1048576"));
  snprintf(path, sizeof path, "%s/model.bin", variable("STACKGATE_PULL_TARGET", "/model-store"));
  int out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (out < 0) {
    fprintf(stderr, "standin: cannot write %s: %s\n", path, strerror(errno));
    return 1;
  }
  memset(block, 'm', sizeof block);
  for (; left > 0; left -= (long)sizeof block)
    write_all(out, block, left < (long)sizeof block ? (size_t)left : sizeof block);
  close(out);
  printf("standin: wrote %s\n", path);
  return 0;
}

int main(int count, char** arguments) {
  const char *run = getenv("STACKGATE_PULL_TARGET") ? "pull" : "serve", *end = variable("STANDIN_EXIT", "");
  signal(SIGTERM, leave);
  signal(SIGINT, leave);
  signal(SIGPIPE, SIG_IGN);
  for (int i = 1; i < count; ++i)
    if (!strcmp(arguments[i], "migrate") || !strcmp(arguments[i], "init") || !strcmp(arguments[i], "pull")) {
      run = arguments[i];
      break;
    }
  ready = strcmp(variable("STANDIN_READY", "yes"), "no") != 0;

  size_t mebibytes = (size_t)atol(variable("STANDIN_ALLOCATE", "0"));
  if (mebibytes > 0 && !strcmp(run, "serve")) {
    char* memory = malloc(mebibytes << 20);
    for (size_t i = 0; memory && i < mebibytes << 20; i += 4096) memory[i] = 1;
    printf("standin: holding %zu MiB\n", mebibytes);
  }
  if (!strncmp(end, run, strlen(run)) && end[strlen(run)] == ':') {
    wait_seconds(variable("STANDIN_DELAY", "0"));
    fprintf(stderr, "standin: ending %s as asked: %s\n", run, end);
    return atoi(end + strlen(run) + 1);
  }
  if (strcmp(run, "serve") != 0) wait_seconds(variable("STANDIN_DELAY", "0"));
  if (!strcmp(run, "pull")) return pull();
  return strcmp(run, "serve") == 0 ? serve() : 0;
}
