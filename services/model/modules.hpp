// The linear modules of a layer, in the order in which a layer uses them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stackgate::model {

enum class Module : std::uint8_t { query, key, value, output, gate, up, down };

inline constexpr std::array<std::string_view, 7> module_names = {
    "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
    "mlp.gate_proj",    "mlp.up_proj",      "mlp.down_proj"};

constexpr std::string_view to_string(Module module) { return module_names[static_cast<std::size_t>(module)]; }

}  // namespace stackgate::model
