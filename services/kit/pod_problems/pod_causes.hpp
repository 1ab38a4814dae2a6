// The causes behind pod_problem(), one function for each place where a pod reports them. Internal to this folder.
// Pure and thread-safe.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "services/kit/json/value.hpp"
#include "services/kit/pod_problems/problem.hpp"

namespace stackgate::pods::causes {

/// Of what others wrote, in bytes: conditions are read in a terminal.
inline constexpr std::size_t longest_text = 1024;

/// A container of a pod: its entry in the status and the one in the spec, and the pod around them.
struct Container {
  const json::Value& pod;
  const json::Value& status;
  const json::Value* spec = nullptr;
  bool init = false;

  std::string_view name() const;
};

/// What keeps this container from running, or nothing.
std::optional<Problem> of_container(const Container& container);

/// Why its image is not there, from the reason and message that kubelet gives while it waits; nothing when `reason`
/// is about something else. The message is "the image X cannot be pulled", with ": why" behind it where it is known.
std::optional<Problem> of_image(const Container& container, std::string_view reason, std::string_view message);

/// Why a container's configuration cannot be made: a Secret, ConfigMap or key that is missing, or a refused user.
Problem of_configuration(const Container& container, std::string_view message);

/// Why it ended: from the `terminated` of its last run, after `restarts` of them.
Problem of_end(const Container& container, const json::Value& terminated, std::int64_t restarts);

/// Why no node takes the pod, from the message of its condition PodScheduled.
Problem of_scheduling(const json::Value& pod, std::string_view message);

/// Why a pod that runs no more was put off its node or refused by it.
Problem of_departure(std::string_view reason, std::string_view message);

/// The last line that says something, without a time stamp in front, cut to what fits a status.
std::string last_words(std::string_view text);

}  // namespace stackgate::pods::causes
