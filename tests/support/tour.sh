# Sourced, after progress.sh. How a tour speaks: chapters, prose within the terminal's width, commands as they are typed.
# shellcheck shell=bash disable=SC2154,SC2034
width=$(tput cols 2>/dev/null || echo 80)
((width >= 60 && width <= 100)) || width=80
chapter=0

title() {
  local rule
  chapter=$((chapter + 1))
  printf -v rule '%*s' "$((width - ${#1} - 6))" ''
  printf '\n%s── %d %s %s%s\n' "$bold" "$chapter" "$1" "${rule// /─}" "$plain"
}

# wrap INDENT HANGING: prose, and everything that a command says, stays within the terminal's width.
wrap() {
  awk -v width="$width" -v indent="$1" -v hang="$2" '{
    line = ""; pad = sprintf("%" indent "s", ""); n = split($0, words, / /)
    for (i = 1; i <= n; i++) {
      if (line != "" && length(pad line " " words[i]) > width) { print pad line; line = words[i]; pad = sprintf("%" indent + hang "s", "") }
      else line = (i == 1) ? words[i] : line " " words[i]
    }
    print pad line }'
}
say() { printf '%s\n' "$*" | wrap 2 0; }
