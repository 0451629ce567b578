// The specs of a machine, in words.
import type { ServerSpecs } from "../../../shared/api/servers.ts";

export const specsInWords = ({ cpu, memory_gb, disk_gb }: ServerSpecs): string =>
  `${cpu} CPU${cpu === 1 ? "" : "s"}, ${memory_gb} GB memory, ${disk_gb} GB disk`;
