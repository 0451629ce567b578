// When DynamoDB may delete an item: the attribute `ttl`, in seconds since 1970.

/** The `ttl` of an item that is needed for so many seconds, from now or from a time in milliseconds. */
export const ttlAfter = (seconds: number, from = Date.now()): number => Math.ceil(from / 1000) + seconds;
