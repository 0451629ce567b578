// Log lines as events with fields. Tokens, passwords and bodies are never among them.
import { Logger } from "@aws-lambda-powertools/logger";

export const log = new Logger({ serviceName: "erp-control-plane" });
