// The log of an instance: what its ERP, its database and its server's proxy wrote.
import * as z from "zod";
import { exampleId } from "../domain/id-kinds.ts";
import { LOG_READS } from "../domain/limits.ts";
import { LOG_LEVELS, LOG_SOURCES } from "../domain/log-levels.ts";
import { POSITION } from "../domain/log-positions.ts";
import { endpoint } from "./endpoint.ts";
import { erpNotInstalled, serverNotActive, tooManyLogReads } from "./errors.ts";
import * as fields from "./fields.ts";

const LogLine = z
  .object({
    at: fields.timestamp.meta({ description: "When the server got the line" }),
    level: z
      .enum(LOG_LEVELS)
      .nullable()
      .meta({ description: "Null if the line has none", examples: ["error"] }),
    logger: z
      .string()
      .nullable()
      .meta({
        description: "The part of the ERP that wrote it; null if the line names none",
        examples: ["odoo.modules.registry"],
      }),
    message: z.string().meta({
      description: "Text, never HTML. It has line breaks and tabs; other control characters are shown as escapes such as `\\x1b`",
      examples: ["Failed to load registry\nTraceback (most recent call last):\n  …\nKeyError: 'ir.model.data'"],
    }),
  })
  .meta({ id: "LogLine" });

const logQuery = () =>
  z.strictObject({
    source: z
      .enum(LOG_SOURCES)
      .default("erp")
      .meta({
        description:
          "Whose log to read: that of the ERP, of its database (which shows statements with their data, so the permission `backups:restore` is needed, too), or of the server's proxy, with a line for each request",
        examples: ["erp"],
      }),
    after: z
      .string()
      .regex(POSITION, "must be the next of a response")
      .optional()
      .meta({
        description: "Only messages behind this `next` of an earlier response, the oldest first",
        examples: ["2026-11-20T12:00:00.000Z.1"],
        maxLength: 31,
      }),
    follow: fields.followSeconds,
    lines: fields
      .queryInteger(1, LOG_READS.linesMax)
      .default(LOG_READS.lines)
      .meta({ description: "How many messages to return, at most", examples: [LOG_READS.lines] }),
    since: fields.queryMoment
      .optional()
      .meta({ description: "Only messages of this time or later", examples: ["2026-11-20T12:00:00Z"], ...fields.MOMENT_FORM }),
    until: fields.queryMoment
      .optional()
      .meta({ description: "Only messages earlier than this time", examples: ["2026-11-20T13:00:00Z"], ...fields.MOMENT_FORM }),
    level: z
      .enum(LOG_LEVELS)
      .optional()
      .meta({
        description: "Only messages of at least this level; one without a level counts as `info`",
        examples: ["warning"],
      }),
    search: fields
      .characters(1, LOG_READS.searchCharacters)
      .optional()
      .meta({ description: "Only messages that contain this text, in any case; it is no pattern", examples: ["KeyError"] }),
  });

export const logs = () =>
  endpoint({
    method: "GET",
    path: "/instances/:id/logs",
    summary: "Read an instance's log",
    description:
      "Returns the newest messages, oldest first, read from the server within the request: at most 3 seconds and 1 MB. A traceback is one message with the line before it. " +
      "With `after` and `follow`, the response comes as soon as there are newer ones, or after that many seconds. " +
      "Passwords, tokens, session IDs and long random parts of paths are replaced with `[redacted]`. " +
      `At most ${LOG_READS.aMinute} requests a minute and ${LOG_READS.atOnce} at once for each instance (429 with the scope \`logs\`). 503 if the server does not respond in time.`,
    access: ["instances:read"],
    errors: () => [
      serverNotActive(exampleId("server"), "offline"),
      erpNotInstalled("provisioning"),
      tooManyLogReads(LOG_READS.aMinute),
    ],
    waits: "follow",
    query: logQuery(),
    data: z
      .object({
        lines: z.array(LogLine),
        truncated: z.boolean().meta({
          description:
            "Whether the log has more messages before these; with `after`, whether some in between are no longer there",
          examples: [true],
        }),
        next: z.string().meta({
          description: "Where the log ends by now: `after` of the next request",
          examples: ["2026-11-20T12:00:00.000Z.1"],
        }),
      })
      .meta({ id: "Log" }),
  });
