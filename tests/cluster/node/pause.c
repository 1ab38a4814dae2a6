/* The process that holds a pod's namespaces open: it reaps orphans and ends when told to. */
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static void leave(int number) {
  (void)number;
  _exit(0);
}

int main(void) {
  sigset_t children;
  signal(SIGTERM, leave);
  signal(SIGINT, leave);
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, 0);
  for (;;) {
    int received;
    sigwait(&children, &received);
    while (waitpid(-1, 0, WNOHANG) > 0) continue;
  }
}
