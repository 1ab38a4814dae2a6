# A loss curve for a terminal. In: "t STEP LOSS" and "v STEP LOSS" a line; -v columns=60 -v rows=8.
# Out: training as a dot, validation as a circle; each column is the mean of its steps.
{
  step[NR] = $2; loss[NR] = $3; kind[NR] = $1
  if ($2 > last) last = $2
  if (NR == 1 || $3 > high) high = $3
  if (NR == 1 || $3 < low) low = $3
}
END {
  if (last == 0) exit 1
  if (high == low) high = low + 1
  for (i = 1; i <= NR; i++) {
    c = int((step[i] - 1) * columns / last)
    sum[kind[i], c] += loss[i]; count[kind[i], c]++
  }
  for (c = 0; c < columns; c++) {
    put("v", c, "○")
    put("t", c, "•")
  }
  for (r = rows - 1; r >= 0; r--) {
    line = sprintf("  %6.2f ┤", low + (high - low) * r / (rows - 1))
    for (c = 0; c < columns; c++) line = line ((r, c) in cell ? cell[r, c] : " ")
    sub(/ +$/, "", line)
    print line
  }
  rule = ""
  for (c = 0; c < columns; c++) rule = rule "─"
  print "         └" rule
  printf "          step 1   • training   ○ validation%" (columns - 38) "d\n", last
}
function put(what, c, mark) {
  if ((what, c) in count) cell[int((sum[what, c] / count[what, c] - low) / (high - low) * (rows - 1) + 0.5), c] = mark
}
