// The specs of a server, in words.
import type { ServerSpecs } from "../../../shared/api/servers.ts";
import { text } from "../messages/text.ts";

export const specsInWords = ({ cpu, memory_gb, disk_gb }: ServerSpecs): string => text.servers.specs(cpu, memory_gb, disk_gb);
