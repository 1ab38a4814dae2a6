#include "services/kit/grammar/image.hpp"

#include <fmt/format.h>

#include "validators/rules/common.hpp"
#include "validators/rules/common/single_values.hpp"

namespace stackgate::validate {

void check_image(Context& context, Field image) {
  if (image.absent()) return;
  const Field repository = image["repository"];
  const Field tag = image["tag"];
  check_text(context, rule::image_repository, repository, grammar::check_image_repository);
  check_text(context, rule::image_tag, tag, grammar::check_image_tag);
  if (tag.present() ? tag.text() == "latest" : repository.present())
    context.report(rule::image_latest, tag,
                   tag.present() ? "the tag latest moves: a restart may run other code"
                                 : "an image without a tag means latest, which moves",
                   "name a version, for example 1.4.2");
  for (const Field secret : image["pullSecrets"].items()) check_object_name(context, secret);
}

}  // namespace stackgate::validate
