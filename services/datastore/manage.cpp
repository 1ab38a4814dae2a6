#include <iostream>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "services/datastore/commands.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/crypto/digest.hpp"

namespace stackgate::datastore {
namespace {

using Words = std::vector<std::string>;

int usage_failed(std::string_view words) { return command_failed(fmt::format("usage: stackgate-datastore {}", words)); }

struct NewPassword {
  std::string text;
  bool made = false;
};

/// From standard input unless that is a terminal; otherwise one is made.
NewPassword password_from_input() {
  std::string line;
  if (::isatty(0) == 0 && std::getline(std::cin, line) && !line.empty()) return {std::move(line)};
  return {crypto::random_hex(12), true};
}

int list_users(Accounts& accounts) {
  for (std::size_t skip = 0;; skip += 200) {
    auto page = accounts.list(AccountKind::user, "", skip, 200, nullptr);
    if (!page) return command_failed(page.error().message);
    for (const Account& each : *page)
      fmt::print("{}{}{}\n", each.name, each.admin ? "\tadmin" : "", each.active ? "" : "\toff");
    if (page->size() < 200) return 0;
  }
}

template <typename T>
int ended(const Accounts::Expected<T>& done) {
  return done ? 0 : command_failed(done.error().message);
}

/// A password that was made is shown once it is somebody's.
template <typename T>
int ended_with(const NewPassword& password, const Accounts::Expected<T>& done) {
  if (done && password.made) fmt::print("password: {}\n", password.text);
  return ended(done);
}

int add_user(Accounts& accounts, const Words& words) {
  const NewPassword password = password_from_input();
  return ended_with(password, accounts.create_user(words[1], password.text, words.size() == 3));
}

int change_password(Accounts& accounts, const std::string& name) {
  const NewPassword password = password_from_input();
  return ended_with(password, accounts.set_password(name, password.text));
}

int switch_user(Accounts& accounts, const std::string& name, bool active) {
  const auto changed = accounts.set_active(name, active);
  if (changed && !*changed) fmt::print("{} is {} already\n", name, active ? "on" : "off");
  return ended(changed);
}

int list_tokens_of(Accounts& accounts, const Account& account) {
  auto tokens = accounts.list_tokens(account.id);
  if (!tokens) return command_failed(tokens.error().message);
  for (const Token& each : *tokens)
    fmt::print("{}\t{}\t…{}\t{}\t{}\n", each.name, each.scope == Scope::read ? "read" : "write", each.last_eight,
               each.expires_at.empty() ? "never expires" : "expires " + each.expires_at,
               each.last_used_at.empty() ? "never used" : "used " + each.last_used_at);
  return 0;
}

int add_token(Accounts& accounts, const Account& account, const Words& words) {
  Scope scope = Scope::write;
  if (words.size() > 3 && words[3] == "read") scope = Scope::read;
  if (words.size() > 3 && words[3] != "read" && words[3] != "write")
    return usage_failed("token add USER NAME [read|write] [DAYS]");
  const int days = words.size() > 4 ? to_number<int>(words[4]).value_or(0) : 0;
  if (words.size() > 4 && (days < 1 || days > 36'500)) return command_failed("DAYS must be a number from 1 to 36500");
  auto made = accounts.create_token(account.id, words[2], scope, std::chrono::hours(24 * days));
  if (!made) return command_failed(made.error().message);
  fmt::print("{}\n", made->secret);
  return 0;
}

}  // namespace

int manage_users(Assembly& all, const settings::Values& values) {
  const Words& words = values.arguments();
  Accounts& accounts = all.accounts;
  const std::string verb = words.empty() ? "list" : words[0];
  if (verb == "list") return list_users(accounts);
  const bool fits = words.size() == 2 || (words.size() == 3 && verb == "add" && words[2] == "admin");
  if (fits && verb == "add") return add_user(accounts, words);
  if (fits && verb == "password") return change_password(accounts, words[1]);
  if (fits && verb == "on") return switch_user(accounts, words[1], true);
  if (fits && verb == "off") return switch_user(accounts, words[1], false);
  if (fits && verb == "remove") return ended(accounts.remove(words[1]));
  return usage_failed("user list | add NAME [admin] | password NAME | on NAME | off NAME | remove NAME");
}

int manage_tokens(Assembly& all, const settings::Values& values) {
  const Words& words = values.arguments();
  constexpr std::string_view usage = "token list USER | add USER NAME [read|write] [DAYS] | remove USER NAME";
  if (words.size() < 2 || words.size() > 5) return usage_failed(usage);
  if (auto prepared = all.accounts.prepare(); !prepared) return command_failed(prepared.error().message);
  auto account = all.accounts.find(words[1]);
  if (!account) return command_failed(account.error().message);
  if (words[0] == "list" && words.size() == 2) return list_tokens_of(all.accounts, *account);
  if (words[0] == "add" && words.size() >= 3) return add_token(all.accounts, *account, words);
  if (words[0] == "remove" && words.size() == 3) return ended(all.accounts.remove_token(account->id, words[2]));
  return usage_failed(usage);
}

}  // namespace stackgate::datastore
