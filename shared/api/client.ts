// A typed client of the API, built from the route table: `client.instances.clone({ params, body })`. For browsers and Node.
import { type Client, type ClientOptions, buildClient } from "./client-of.ts";
import { api } from "./index.ts";

export { type Client, ClientError } from "./client-of.ts";

export const createClient = (options: ClientOptions): Client => buildClient(api, options);
