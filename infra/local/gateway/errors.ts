// The errors that API Gateway returns itself, by the type that names the gateway response: status and message, unless the
// template has its own.

export const GATEWAY_ERRORS = {
  MISSING_AUTHENTICATION_TOKEN: [403, "Missing Authentication Token"],
  UNAUTHORIZED: [401, "Unauthorized"],
  ACCESS_DENIED: [403, "User is not authorized to access this resource"],
  AUTHORIZER_FAILURE: [500, "Internal server error"],
  AUTHORIZER_CONFIGURATION_ERROR: [500, "Internal server error"],
  BAD_REQUEST_BODY: [400, "Invalid request body"],
  BAD_REQUEST_PARAMETERS: [400, "Bad Request"],
  REQUEST_TOO_LARGE: [413, "Request Too Long"],
  // This type has no name on AWS: the response of the default, with this status.
  URI_TOO_LONG: [414, "Request URI too long"],
  // A function that Lambda throttles: 500, unless the template has a response for this type.
  INTEGRATION_FAILURE: [500, "Internal server error"],
  INTEGRATION_TIMEOUT: [504, "Endpoint request timed out"],
  // A function that failed or returned no response. AWS has no separate type for it, and a status that the default does not have.
  DEFAULT_5XX: [502, "Internal server error"],
} as const;
export type GatewayErrorType = keyof typeof GATEWAY_ERRORS;

export class GatewayError extends Error {
  readonly type: GatewayErrorType;
  constructor(type: GatewayErrorType, cause?: unknown) {
    super(type, { cause });
    this.type = type;
  }
}
