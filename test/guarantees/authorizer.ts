// The authorizer, called as API Gateway calls it, in this process.
import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from "aws-lambda";
import { handler } from "../../functions/authorize.ts";
import { BASE_PATH } from "../../shared/api/base-path.ts";
import { CLIENT_ADDRESS_HEADER, ORIGIN_KEY_HEADER } from "../../shared/runtime/origin.ts";

/** A key for the variable ORIGIN_KEYS, a list with spaces, of the calling file's process. */
export const ATTACK_KEY = "key-of-the-attack";

interface Presented {
  httpMethod: string;
  /** The resource's path in the gateway's syntax. */
  resource: string;
  authorization: string;
}

export function authorize({ httpMethod, resource, authorization }: Presented): Promise<APIGatewayAuthorizerResult> {
  const headers = { authorization, [ORIGIN_KEY_HEADER]: ATTACK_KEY, [CLIENT_ADDRESS_HEADER]: "127.0.0.1" };
  const event = {
    httpMethod,
    resource,
    path: `${BASE_PATH}/any`,
    headers,
    queryStringParameters: null,
    requestContext: { requestId: "attack", identity: { sourceIp: "127.0.0.1" } },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the authorizer reads of it
  return handler(event as unknown as APIGatewayRequestAuthorizerEvent);
}
