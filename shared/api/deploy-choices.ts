// How code is deployed, to one instance or to many.
import * as z from "zod";
import { MODULE_NAME } from "../domain/code-rules.ts";
import * as fields from "./fields.ts";

/** How a deploy is made, of whatever code. */
export const choices = () => ({
  modules: z
    .union(
      [
        z
          .array(z.string().regex(MODULE_NAME, "must be the name of a module").meta({ maxLength: 64 }))
          .min(1, "must contain at least one")
          .max(100, "must contain at most 100"),
        z.enum(["changed", "all"]),
      ],
      "must be changed, all or a list of modules",
    )
    .default("changed")
    .meta({
      description:
        "What is updated: modules whose files differ from those that the database was last updated with, all modules of the code, or these",
      examples: ["changed"],
    }),
  rehearse: z
    .boolean()
    .default(true)
    .meta({
      description:
        "Whether the new code, and the update, is tried on a copy of the database first, also where no module is updated",
      examples: [true],
    }),
  backup_first: z
    .boolean()
    .default(true)
    .meta({ description: "Whether a backup is taken before the ERP stops", examples: [true] }),
  update_image: z
    .boolean()
    .default(false)
    .meta({
      description:
        "Whether the ERP and its database server get the newest images of the same versions. All modules are then updated, because the image's may have changed",
      examples: [false],
    }),
  note: fields.text(200, "Prices with tax").optional(),
});

/** Choices for many instances: each deploys its own code, as it is at that time. */
export const deployChoices = () => z.strictObject(choices());
