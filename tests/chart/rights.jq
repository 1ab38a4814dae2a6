# Rights that an account holds against those that it has used. Input: the objects of a rendering (slurped).
#   $user    its name, as the API server's audit log has it
#   $events  its audit events
#   $proven  lines "verb resource.group" that no request shows, because something else proves the need
# Output: a line for each right that was never used, and for each request that was refused for want of one.
# A right counts as used by a request, or by standing in a Role that the account created: nobody may hand on what he does
# not hold. Reads of names and of everything count alike; so do the resource names of a rule.
def called: "\(.verb) \(.resource)\(if .group == "" then "" else ".\(.group)" end)";
def rights: .rules[]? | . as $rule | .apiGroups[]? as $group | .resources[] as $resource | .verbs[] as $verb
  | {group: $group, resource: $resource, verb: $verb};
($events | map(select(.user.username == $user))) as $mine
| ([$mine[] | select(.objectRef) | select((.responseStatus.code // 200) as $code | [401, 403] | index($code) | not)
    | {verb, group: (.objectRef.apiGroup // ""),
       resource: (.objectRef.resource + (if .objectRef.subresource then "/" + .objectRef.subresource else "" end))} | called]
   + [$mine[] | select(.objectRef.resource == "roles" and .verb == "create" and .responseStatus.code == 201) | .requestObject | rights | called]
   + $proven | unique) as $used
| (map(select(.kind == "ClusterRole" or .kind == "Role") | select(.metadata.name | test("^stackgate(-cluster|-namespaces)?$")) | rights | called)
   | unique) as $held
| ($held - $used | .[] | "unused: \(.)"),
  ($proven - $held | .[] | "not held, but said to be proven: \(.)"),
  ([$mine[] | select(.responseStatus.code == 403) | .responseStatus.message // "\(.verb) \(.requestURI)"] | unique | .[] | "refused: \(.)")
