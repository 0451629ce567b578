// Where the API lives: the version is a segment of the base URL.
export const BASE_PATH = "/api/v1";
