#include "services/datastore/git/protocol.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/datastore/git/names.hpp"
#include "services/datastore/git/pkt_line.hpp"

namespace stackgate::datastore::git {
namespace {

constexpr std::string_view zero_id = "0000000000000000000000000000000000000000";
constexpr std::size_t most_prefixes = 65536;  // git's own: beyond it, all references are shown

/// git puts "symref=" before these two.
std::size_t symref_place(std::string_view capabilities) {
  return std::min({capabilities.find(" filter"), capabilities.find(" object-format="), capabilities.size()});
}

/// Sorted, without those that a shorter one covers.
std::vector<std::string> least_prefixes(std::vector<std::string> all) {
  std::ranges::sort(all);
  std::vector<std::string> out;
  for (std::string& each : all)
    if (out.empty() || !each.starts_with(out.back())) out.push_back(std::move(each));
  return out;
}

bool has_prefix(std::string_view name, const std::vector<std::string>& prefixes) {
  if (prefixes.empty()) return true;
  const auto after =
      std::ranges::upper_bound(prefixes, name, {}, [](const std::string& p) { return std::string_view(p); });
  return after != prefixes.begin() && name.starts_with(*std::prev(after));
}

}  // namespace

std::string_view to_string(Service service) {
  return service == Service::upload_pack ? "git-upload-pack" : "git-receive-pack";
}

int protocol_version(std::string_view header) {
  int version = 0;
  for (std::string_view rest = header; !rest.empty();) {
    const auto end = rest.find(':');
    const std::string_view item = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (item == "version=1") version = std::max(version, 1);
    if (item == "version=2") version = std::max(version, 2);
  }
  return version;
}

std::string service_line(Service service) {
  std::string out;
  append_pkt(out, fmt::format("# service={}\n", to_string(service)));
  out += pkt_flush;
  return out;
}

std::string advertise(Service service, const RefList& list, std::string_view capabilities) {
  std::string out;
  std::string line;
  bool first = true;
  const auto show = [&](std::string_view oid, std::string_view name, std::string_view end) {
    line.assign(oid);
    line += ' ';
    line += name;
    line += end;
    if (first) {
      line.push_back('\0');
      const bool upload = service == Service::upload_pack;
      const std::size_t place = upload ? symref_place(capabilities) : capabilities.size();
      line += capabilities.substr(0, place);
      if (upload && list.head && !list.head->symref.empty()) line += " symref=HEAD:" + list.head->symref;
      line += capabilities.substr(place);
    }
    // receive-pack ends its first line without a line feed when there is no reference.
    line += '\n';
    append_pkt(out, line);
    first = false;
  };
  const auto show_with_peeled = [&](const ShownRef& ref) {
    show(ref.oid, ref.name, {});
    if (!ref.peeled.empty() && service == Service::upload_pack) show(ref.peeled, ref.name, "^{}");
  };
  if (service == Service::upload_pack && list.head) show_with_peeled(*list.head);
  for (const ShownRef& ref : list.refs) show_with_peeled(ref);
  if (first && service == Service::receive_pack) show(zero_id, "capabilities", "^{}");
  out += pkt_flush;
  return out;
}

std::optional<std::string> capabilities_of(std::string_view advertisement) {
  const Pkt line = next_pkt(advertisement);
  const auto nul = line.payload.find('\0');
  if (line.kind != Pkt::Kind::data || nul == std::string_view::npos) return std::nullopt;
  std::string out(chomp(line.payload.substr(nul + 1)));
  if (const auto at = out.find(" symref=HEAD:"); at != std::string::npos) {
    const auto end = out.find(' ', at + 1);
    out.erase(at, end == std::string::npos ? std::string::npos : end - at);
  }
  return out;
}

RequestKind parse_ls_refs(std::string_view body, LsRefs& out) {
  enum class Part : std::uint8_t { command, capabilities, arguments } part = Part::command;
  for (;;) {
    const Pkt line = next_pkt(body);
    if (line.kind == Pkt::Kind::more) return RequestKind::incomplete;
    if (line.kind == Pkt::Kind::flush)
      return part == Part::command || !body.empty() ? RequestKind::other : RequestKind::ls_refs;
    if (line.kind == Pkt::Kind::delimiter && part == Part::capabilities) {
      part = Part::arguments;
      continue;
    }
    if (line.kind != Pkt::Kind::data) return RequestKind::other;
    const std::string_view text = chomp(line.payload);
    if (part == Part::command) {
      if (text != "command=ls-refs") return RequestKind::other;
      part = Part::capabilities;
    } else if (part == Part::capabilities) {
      if (!text.starts_with("agent=") && text != "object-format=sha1" && !text.starts_with("server-option="))
        return RequestKind::other;
    } else if (constexpr std::string_view prefix = "ref-prefix "; text.starts_with(prefix)) {
      if (out.prefixes.size() <= most_prefixes) out.prefixes.emplace_back(text.substr(prefix.size()));
    } else if (text == "peel") {
      out.peel = true;
    } else if (text == "symrefs") {
      out.symrefs = true;
    } else if (text == "unborn") {
      out.unborn = true;
    } else {
      return RequestKind::other;
    }
  }
}

std::string answer_ls_refs(const LsRefs& request, const RefList& list) {
  const bool all = request.prefixes.size() >= most_prefixes;
  const std::vector<std::string> prefixes = least_prefixes(all ? std::vector<std::string>{} : request.prefixes);
  std::string out, line;
  const auto show = [&](const ShownRef& ref) {
    if (!has_prefix(ref.name, prefixes)) return;
    line = ref.oid + " " + ref.name;
    if (request.symrefs && !ref.symref.empty()) line += " symref-target:" + ref.symref;
    if (request.peel && !ref.peeled.empty()) line += " peeled:" + ref.peeled;
    line += '\n';
    append_pkt(out, line);
  };
  if (list.head) {
    show(*list.head);
  } else if (!list.unborn.empty() && request.unborn && request.symrefs) {
    show({"HEAD", "unborn", {}, list.unborn});
  }
  for (const ShownRef& ref : list.refs) show(ref);
  out += pkt_flush;
  return out;
}

PushHead parse_push(std::string_view body, std::vector<PushCommand>& out) {
  for (;;) {
    const Pkt line = next_pkt(body);
    if (line.kind == Pkt::Kind::more) return PushHead::incomplete;
    if (line.kind == Pkt::Kind::flush) return PushHead::whole;
    if (line.kind != Pkt::Kind::data) return PushHead::bad;
    const std::string_view text = chomp(line.payload.substr(0, line.payload.find('\0')));
    if (text.starts_with("shallow ") && is_oid(text.substr(8))) continue;
    if (text.starts_with("push-cert")) return PushHead::bad;  // not offered
    if (text.size() < 83 || text[40] != ' ' || text[81] != ' ' || !is_oid(text.substr(0, 40)) ||
        !is_oid(text.substr(41, 40)))
      return PushHead::bad;
    out.push_back({std::string(text.substr(0, 40)), std::string(text.substr(41, 40)), std::string(text.substr(82))});
  }
}

}  // namespace stackgate::datastore::git
