// The API description as one page for people: a single HTML document that needs no script and sends no request.
import { createHash } from "node:crypto";
import type { Media, OpenApi, Operation, Parameter, Reference, Response, Schema } from "../../../shared/api/openapi/document.ts";
import { STYLE } from "./docs-style.ts";

/** Allows the page its own style sheet and nothing else. */
export const DOCS_CONTENT_SECURITY_POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** `origin` is the base of the URLs in the examples. */
export function docsPage(document: OpenApi, origin = "http://127.0.0.1:3000"): string {
  const { info, servers, tags, components } = document;
  const operations = listOperations(document);
  const ofTag = (name: string) => operations.filter((each) => each.operation.tags.includes(name));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(info.title)} API</title>
<style>${STYLE}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<nav aria-label="Contents">
<a class="title" href="#main">${escape(info.title)} <span>API ${escape(info.version)}</span></a>
<ul>
<li><a href="#start">Start here</a></li>
${tags.map(({ name }) => `<li><a href="#${slug(name)}">${escape(name)}</a>${renderMenu(ofTag(name))}</li>`).join("\n")}
<li><a href="#resources">Resources</a></li>
</ul>
</nav>
<main id="main">
<h1>${escape(info.title)} <span>API ${escape(info.version)}</span></h1>
<section id="start" class="words">
${renderStart(`${origin}${servers[0]?.url ?? ""}`)}
${markdown(info.description)}
<p>The same document for tools: <a href="${escape(servers[0]?.url ?? "")}/openapi.json">openapi.json</a> (OpenAPI ${escape(document.openapi)}).</p>
</section>
${tags
  .map(
    ({ name, description }) => `<section id="${slug(name)}" aria-labelledby="${slug(name)}-title">
<h2 id="${slug(name)}-title">${escape(name)}</h2>
<div class="words">${markdown(description)}</div>
${ofTag(name)
  .map((each) => renderEndpoint(each, document))
  .join("\n")}
</section>`,
  )
  .join("\n")}
<section id="resources" aria-labelledby="resources-title">
<h2 id="resources-title">Resources</h2>
<p>The objects in responses. New fields may appear.</p>
${Object.entries(components.schemas)
  .map(
    ([name, schema]) =>
      `<section id="${anchorOf(name)}" class="resource"><h3>${escape(name)}</h3>${fieldsTable(schema, false)}</section>`,
  )
  .join("\n")}
</section>
</main>
</body>
</html>
`;
}

interface Described {
  path: string;
  method: string;
  operation: Operation;
}

const listOperations = ({ paths }: OpenApi): Described[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );

const renderMenu = (operations: Described[]): string =>
  `<ul>${operations
    .map(
      ({ method, operation: { operationId, summary } }) =>
        `<li><a href="#${escape(operationId)}">${badge(method)} <span>${inline(summary)}</span></a></li>`,
    )
    .join("")}</ul>`;

const renderStart = (
  api: string,
): string => `<p>You can paste the examples on this page into a terminal after you set these two variables:</p>
<pre tabindex="0"><code>export API=${escape(api)}
export TOKEN=…   # an API token, or the token that POST /auth/login gives</code></pre>`;

function renderEndpoint({ path, method, operation }: Described, document: OpenApi): string {
  const { operationId, summary, description, requestBody, responses } = operation;
  const parameters = operation.parameters.map((each) => resolveParameter(each, document));
  const body = requestBody?.content["application/json"];
  const [status = "", success] = Object.entries(responses)[0] ?? [];
  const response = success && resolveResponse(success, document);
  return `<article id="${escape(operationId)}" aria-labelledby="${escape(operationId)}-title">
<h3 id="${escape(operationId)}-title"><a href="#${escape(operationId)}">${inline(summary)}</a></h3>
<p class="address">${badge(method)} <code>${escape(path).replace(/\/(?=.)/g, "/<wbr>")}</code></p>
<div class="columns">
<div>
${description === undefined ? "" : `<p>${inline(description)}</p>`}
<dl class="facts">
<div><dt>Needs</dt><dd>${renderAccess(operation)}</dd></div>
<div><dt>Limit</dt><dd>${renderLimit(operation)}</dd></div>
${operation["x-operations"] === undefined ? "" : `<div><dt>Starts</dt><dd>${operation["x-operations"].map(code).join(", ")}</dd></div>`}
</dl>
${parametersTable(parameters)}
${body === undefined ? "" : `<h4>Body</h4>${bodyTable(resolveSchema(body.schema, document))}`}
${response === undefined ? "" : `<h4>Response ${status}</h4><p>${escape(response.description)}. <code>data</code> is ${renderData(response.content["application/json"])}.</p>`}
${renderErrors(operation, document)}
</div>
<div class="examples">
<h4>Request</h4>
<pre tabindex="0"><code>${escape(renderCurl({ method, path, operation }, parameters, body))}</code></pre>
${response === undefined ? "" : `<h4>Response</h4><pre tabindex="0"><code>${json(response.content["application/json"].example)}</code></pre>`}
</div>
</div>
</article>`;
}

function renderAccess({ "x-permission": access }: Operation): string {
  if (typeof access === "string")
    return { public: "nothing: public", credential: "any credential", session: "a dashboard session" }[access] ?? code(access);
  if (isList(access)) return access.map(code).join(" and ");
  return Object.entries(access)
    .flatMap(([field, permissions]) =>
      Object.entries(Object.groupBy(Object.keys(permissions), (value) => permissions[value] ?? "")).map(
        ([permission, values = []]) => `${code(permission)} where ${code(field)} is ${values.map(code).join(", ")}`,
      ),
    )
    .join("; ");
}

const isList = (access: Operation["x-permission"]): access is readonly string[] => Array.isArray(access);

function renderLimit({ security, "x-rate-limit": rate }: Operation): string {
  if (security?.length === 0) return "none of its own";
  return rate === "create_delete" ? "requests, and creations and deletions" : "requests";
}

const parametersTable = (parameters: Parameter[]): string =>
  parameters.length === 0
    ? ""
    : `<h4>Parameters</h4>${renderTable(
        ["Name", "In", "Type and limits", "Meaning"],
        parameters.map(({ name, in: examplePath, required, schema, description }) => [
          nameCell(name, required),
          examplePath,
          renderType(schema),
          inline(description),
        ]),
      )}`;

const bodyTable = (schema: Schema): string =>
  Object.keys(schema.properties ?? {}).length > 0
    ? fieldsTable(schema, true)
    : `<p>${schema.additionalProperties === false ? "An empty object, or none." : "Any JSON object."}</p>`;

/** Requests show which fields are required, responses which may be missing. */
function fieldsTable(schema: Schema, sent: boolean): string {
  const rows = listRows(schema, "");
  if (rows.length === 0) return `<p>Any JSON object.</p>`;
  return renderTable(
    ["Field", "Type and limits", "Meaning"],
    rows.map(({ name, field, required }) => [
      sent ? nameCell(name, required) : `${code(name)}${required ? "" : " <small>optional</small>"}`,
      renderType(field),
      inline(field.description ?? ""),
    ]),
  );
}

interface Row {
  name: string;
  field: Schema;
  required: boolean;
}

/** The fields of an object, and those of nested objects under their dotted names. */
const listRows = ({ properties = {}, required = [] }: Schema, prefix: string): Row[] =>
  Object.entries(properties).flatMap(([key, field]) => {
    const name = `${prefix}${key}`;
    const inner = field.items?.properties === undefined ? field : field.items;
    const object = inner.properties === undefined ? inner.anyOf?.find((each) => each.properties !== undefined) : inner;
    const row = { name, field, required: required.includes(key) };
    return object === undefined ? [row] : [row, ...listRows(object, `${name}${inner === field ? "" : "[]"}.`)];
  });

const nameCell = (name: string, required: boolean): string =>
  `${code(name)} <small>${required ? "required" : "optional"}</small>`;

/** The longest pattern that explains more than it hides. */
const PATTERN_SHOWN_MAX = 40;

function renderType(schema: Schema): string {
  const { format, const: only, pattern, default: usual } = schema;
  const values = schema.enum ?? schema["x-extensible-enum"];
  const limits = [
    format === undefined ? undefined : escape(format),
    range("", schema.minimum, schema.maximum),
    range("characters", schema.minLength, schema.maxLength),
    range("items", schema.minItems, undefined),
    pattern !== undefined && format === undefined && pattern.length <= PATTERN_SHOWN_MAX ? code(pattern) : undefined,
    values?.map((value) => code(String(value))).join(", "),
    only === undefined ? undefined : code(JSON.stringify(only)),
    usual === undefined ? undefined : `default ${code(JSON.stringify(usual))}`,
  ].filter((limit) => limit !== undefined);
  return [renderKind(schema), ...limits].filter((part) => part !== "").join("<br>");
}

function renderKind({ $ref, type, anyOf, items, const: only }: Schema): string {
  if ($ref !== undefined) return linkTo($ref);
  if (items !== undefined) return `array of ${renderType(items)}`;
  if (anyOf !== undefined) return [...new Set(anyOf.map(renderKind))].join(" or ");
  if (Array.isArray(type)) return type.join(" or ");
  return type ?? (only === undefined ? "any" : "");
}

function range(unit: string, minimum: number | undefined, maximum: number | undefined): string | undefined {
  const of = unit === "" ? "" : ` ${unit}`;
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}${of}`;
  if (minimum !== undefined) return `at least ${minimum}${of}`;
  return maximum === undefined ? undefined : `at most ${maximum}${of}`;
}

const anchorOf = (name: string): string => `resource-${escape(name)}`;
const linkTo = ($ref: string): string => {
  const name = $ref.slice($ref.lastIndexOf("/") + 1);
  return `<a href="#${anchorOf(name)}">${escape(name)}</a>`;
};

/** The type of `data`: a named resource, a list of them, or its fields. */
function renderData({ schema }: Media): string {
  const data = schema.properties?.["data"];
  if (data === undefined) return "absent: the response is the document itself";
  const { properties } = data;
  return properties === undefined
    ? `${renderKind(data).startsWith("array") ? "an " : ""}${renderKind(data)}`
    : Object.keys(properties).map(code).join(", ");
}

function renderErrors({ responses }: Operation, document: OpenApi): string {
  const failures = Object.entries(responses).filter(([status]) => Number(status) >= 400);
  const rows = failures.flatMap(([status, failure]) =>
    Object.entries(resolveResponse(failure, document).content["application/json"].examples ?? {}).map(([name, { value }]) => {
      const { message, details } = Object(Object(value).error);
      const more = details === undefined ? "" : `<br><code class="details">${escape(JSON.stringify(details))}</code>`;
      return [status, code(name.replace(/\.\d+$/, "")), `${escape(String(message))}${more}`];
    }),
  );
  return `<details><summary>Errors (${rows.length})</summary>${renderTable(["Status", "Code", "Message and details"], rows)}</details>`;
}

/** A path with a name in braces is readable. */
function exampleNamed(name: string, parameters: Parameter[]): string {
  const example = parameters.find((each) => each.name === name)?.example;
  return typeof example === "string" ? example : `{${name}}`;
}

function renderCurl(
  { method, path, operation: { security } }: Described,
  parameters: Parameter[],
  body: Media | undefined,
): string {
  const examplePath = path.replace(/\{(\w+)\}/g, (_, name: string) => exampleNamed(name, parameters));
  const wait = parameters.some(({ name }) => name === "wait") ? "?wait=20" : "";
  const text = body === undefined ? undefined : JSON.stringify(body.example, null, 2).replaceAll("'", "'\\''");
  const verb = method === "GET" || (method === "POST" && text !== undefined) ? "" : `-X ${method} `;
  return [
    `curl ${verb}"$API${examplePath}${wait}"`,
    ...(security?.length === 0 ? [] : [`-H "Authorization: Bearer $TOKEN"`]),
    ...(text === undefined ? [] : [`-H "Content-Type: application/json"`, `-d '${text}'`]),
  ].join(" \\\n  ");
}

const nameIn = ($ref: string): string => $ref.slice($ref.lastIndexOf("/") + 1);

function resolveParameter(parameter: Parameter | Reference, { components }: OpenApi): Parameter {
  if (!("$ref" in parameter)) return parameter;
  const found = components.parameters[nameIn(parameter.$ref)];
  if (found === undefined) throw new Error(`${parameter.$ref} is not in the document`);
  return found;
}

function resolveResponse(response: Response | Reference, { components }: OpenApi): Response {
  if (!("$ref" in response)) return response;
  const found = components.responses[nameIn(response.$ref)];
  if (found === undefined || !("content" in found)) throw new Error(`${response.$ref} has no content in the document`);
  return found;
}

const resolveSchema = (schema: Schema, { components }: OpenApi): Schema =>
  schema.$ref === undefined ? schema : (components.schemas[nameIn(schema.$ref)] ?? {});

const renderTable = (head: string[], rows: string[][]): string =>
  `<div class="table" tabindex="0" role="group" aria-label="${escape(head.join(", "))}"><table><thead><tr>${head
    .map((cell) => `<th scope="col">${cell}</th>`)
    .join("")}</tr></thead><tbody>${rows
    .map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`)
    .join("")}</tbody></table></div>`;

const badge = (method: string): string => `<b class="method ${method.toLowerCase()}">${escape(method)}</b>`;
const code = (text: string): string => `<code>${escape(text)}</code>`;
const slug = (name: string): string => name.toLowerCase().replace(/[^a-z]+/g, "-");

const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[character] ?? "&quot;");

/** JSON with different colors for names and values. */
const json = (value: unknown): string =>
  (JSON.stringify(value, null, 2) ?? "").replace(
    /("(?:[^"\\]|\\.)*")(:?)|[&<>]|\b(?:true|false|null)\b|-?\b\d+(?:\.\d+)?\b/g,
    (part: string, text: string | undefined, colon: string | undefined) => {
      if (text === undefined) return /^[&<>]$/.test(part) ? escape(part) : `<i class="value">${part}</i>`;
      return colon === ":" ? `<i class="name">${escape(text)}</i>:` : `<i class="text">${escape(text)}</i>`;
    },
  );

/** The Markdown that the description uses: headings, paragraphs, tables, code, bold. */
function markdown(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((block) => {
      const [first = "", ...rest] = block.split("\n");
      if (first.startsWith("## ")) {
        const title = first.slice(3);
        return `<h2 id="about-${slug(title)}">${inline(title)}</h2>${rest.length > 0 ? markdown(rest.join("\n")) : ""}`;
      }
      if (first.startsWith("| ")) {
        const [head = [], , ...rows] = [first, ...rest].map((line) => line.slice(2, -2).split(" | ").map(inline));
        return renderTable(head, rows);
      }
      return `<p>${inline(block)}</p>`;
    })
    .join("\n");
}

const inline = (text: string): string =>
  escape(text)
    .replace(/`([^`]+)`/g, "<code>$1</code>")
    .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>");
