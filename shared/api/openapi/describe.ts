// The API's OpenAPI 3.1.1 document, built from the route table and its schemas.
import type { Environment } from "../../domain/environments.ts";
import type { WorkflowName } from "../../domain/lifecycle.ts";
import * as fields from "../fields.ts";
import { BASE_PATH } from "../base-path.ts";
import { toGatewayResource, type Route, routes } from "../index.ts";
import { FAILURE, describeFailures, HEADERS, NOT_MODIFIED, describeSuccesses } from "./responses.ts";
import { type Components, type OpenApi, type Operation, ref, type Schema } from "./document.ts";
import { PARAMETERS, pathParameters, queryParameters } from "./parameters.ts";
import { bodyExample, resolve, toSchema } from "./schemas.ts";
import { DESCRIPTION, TAGS } from "./words.ts";

/** The description of one environment's API. */
export function openapiDocument(environment: Environment): OpenApi {
  const here = routes.filter(({ only }) => only === undefined || only === environment);
  const components: Components = {
    securitySchemes: {
      bearer: {
        type: "http",
        scheme: "bearer",
        description: "An API token, or the session token that `POST /auth/login` returns",
      },
    },
    schemas: { Failure: FAILURE },
    parameters: PARAMETERS,
    headers: HEADERS,
    responses: { NotModified: NOT_MODIFIED },
  };
  toSchema(fields.ListMeta, "response", components);
  const paths: OpenApi["paths"] = {};
  for (const route of here) {
    const path = toGatewayResource(route.path).slice(BASE_PATH.length);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeOperation(route, components) };
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "ERP control plane",
      version: "v1",
      description: DESCRIPTION,
      contact: { name: "The operator of this service" },
    },
    servers: [
      {
        url: BASE_PATH,
        description: environment === "test" ? "Sandbox: free, and touches nothing real" : "Production",
        "x-internal": false,
      },
    ],
    security: [{ bearer: [] }],
    tags: [...new Set(here.map(chooseTag))],
    paths,
    components,
  };
}

const chooseTag = ({ resource }: Route) =>
  Object.entries(TAGS).find(([name]) => name === resource)?.[1] ?? { name: resource, description: "" };

function describeOperation(route: Route, components: Components): Operation {
  const data = toSchema(route.data, "response", components);
  const body = route.body && toSchema(route.body, "body", components);
  return {
    operationId: route.id,
    tags: [chooseTag(route).name],
    summary: route.summary,
    ...(route.description !== "" && { description: route.description }),
    ...(route.access === "public" && { security: [] }),
    parameters: [
      ...pathParameters(route),
      ...(route.query === undefined ? [] : queryParameters(route.query, components)),
      ...(route.dryRun ? [ref("parameters", "DryRun")] : []),
      ...(route.idempotent ? [ref("parameters", "IdempotencyKey")] : []),
      ...(route.conditional ? [ref("parameters", "IfMatch")] : []),
      ...(route.upserts ? [ref("parameters", "IfNoneMatchOfPut")] : []),
      ...(canBeKnown(route) ? [ref("parameters", "IfNoneMatch")] : []),
      ref("parameters", "RequestId"),
    ],
    ...(body !== undefined && {
      requestBody: {
        required: isRequired(resolve(body, components)),
        content: { "application/json": { schema: body, example: bodyExample(body, components) } },
      },
    }),
    responses: {
      ...describeSuccesses(route, data, components),
      ...(canBeKnown(route) && { 304: ref("responses", "NotModified") }),
      ...describeFailures(route, body, components),
    },
    "x-permission": describePermission(route),
    "x-rate-limit": route.rate,
    ...(route.starts.length > 0 && { "x-operations": route.starts.map(operationStartedBy) }),
  };
}

const canBeKnown = ({ method, unversioned }: Route): boolean => method === "GET" && unversioned !== undefined;

/** Whether an empty body, which stands for an empty object, is invalid. */
const isRequired = ({ required = [], minProperties = 0 }: Schema): boolean => required.length > 0 || minProperties > 0;

/** Workflows are named the other way round: `create-server` carries out `server.create`. */
const operationStartedBy = (workflow: WorkflowName): string => workflow.split("-").toReversed().join(".");

const describePermission = ({ access, bodyPermission }: Route): Operation["x-permission"] =>
  bodyPermission === undefined ? access : { [bodyPermission.field]: bodyPermission.permissions };
