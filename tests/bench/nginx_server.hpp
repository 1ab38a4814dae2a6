// nginx with one worker and without logs, as an upstream or beside what is measured.
#pragma once
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/support/nginx.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::bench {

/// The command that runs it with these `servers` (of its http block); its files are `dir`/`name`.*.
inline std::vector<std::string> nginx_with(test::TempDir& dir, const std::string& name, const std::string& servers) {
  dir.write(
      name + ".conf",
      fmt::format("daemon off; master_process off; worker_processes 1; worker_rlimit_nofile 20000; pid {0}/{1}.pid;\n"
                  "error_log {0}/{1}.err;\nevents {{ worker_connections 8192; }}\nhttp {{ access_log off;\n"
                  "keepalive_requests 100000000; client_body_temp_path {0}/t1; proxy_temp_path {0}/t2;\n"
                  "fastcgi_temp_path {0}/t3; uwsgi_temp_path {0}/t4; scgi_temp_path {0}/t5;\n{2} }}\n",
                  dir / "", name, servers));
  return {test::nginx(), "-e", dir / (name + ".err"), "-c", dir / (name + ".conf")};
}

}  // namespace stackgate::bench
