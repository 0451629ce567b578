// The API lives under this path: the version is a segment of the base URL.
export const BASE_PATH = "/api/v1";
