// Edits modules by their syntax tree, for the bundles: formatting and local names may change, only the syntax counts.
import { parseAst } from "rolldown/parseAst";

/** Replaces what is between `start` and `end` with a text. */
export type Edit = [start: number, end: number, text: string];

interface Node {
  type: string;
  start: number;
  end: number;
  [key: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && "start" in value && "end" in value;

export function edited(source: string, edits: readonly Edit[]): string {
  const lastFirst = edits.toSorted(([a], [b]) => b - a);
  return lastFirst.reduce((text, [start, end, put]) => text.slice(0, start) + put + text.slice(end), source);
}

/** An expression that a bundler may drop if nobody uses it. */
export const pure = (expression: string): string => `/* @__PURE__ */ (() => (${expression}))()`;

/** All nodes of a module, outer before inner. */
function nodesOf(source: string, lang: "js" | "ts"): Node[] {
  const found: Node[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (typeof value !== "object" || value === null) return;
    if (isNode(value)) found.push(value);
    Object.values(value).forEach(visit);
  };
  visit(parseAst(source, { lang }).body);
  return found;
}

const nodeIn = (node: Node, key: string): Node | undefined => {
  const value = node[key];
  return isNode(value) ? value : undefined;
};
const nameOf = (node: Node | undefined): string | undefined => (typeof node?.["name"] === "string" ? node["name"] : undefined);

/** The name in `object.name`; undefined for all other syntax. */
const memberOf = (node: Node | undefined): string | undefined =>
  node?.type === "MemberExpression" && node["computed"] !== true ? nameOf(nodeIn(node, "property")) : undefined;

/** Without the calls of a method that returns its own object. */
export function withoutCalls(source: string, method: string): string {
  const edits = nodesOf(source, "ts").flatMap((node): Edit[] => {
    const callee = nodeIn(node, "callee");
    const object = callee && nodeIn(callee, "object");
    return node.type === "CallExpression" && memberOf(callee) === method && object ? [[object.end, node.end, ""]] : [];
  });
  return edited(source, edits);
}

/** Without the methods of objects that neither this module nor `callers` call. */
export function withoutUnusedMethods(source: string, callers: string): string {
  const nodes = nodesOf(source, "js");
  const namespaces = new Set(
    nodes.flatMap((node) => (node.type === "ImportNamespaceSpecifier" ? [nameOf(nodeIn(node, "local"))] : [])),
  );
  // A member of a namespace is a function of that module.
  const members = nodes.filter((node) => !namespaces.has(nameOf(nodeIn(node, "object")) ?? "")).map(memberOf);
  const called = new Set<string | undefined>([...members, ...(callers.match(/(?<=\.)\w+\b/g) ?? [])]);
  const edits = nodes.flatMap((node): Edit[] => {
    const name = nameOf(nodeIn(node, "key"));
    if (node.type !== "Property" || node["method"] !== true || name === undefined || called.has(name)) return [];
    const comma = /^\s*,/.exec(source.slice(node.end))?.[0] ?? "";
    return [[node.start, node.end + comma.length, ""]];
  });
  return edited(source, edits);
}

/** With methods of classes that do nothing, because nobody calls them. */
export function withEmptyMethods(source: string, methods: RegExp): string {
  const edits = nodesOf(source, "js").flatMap((node): Edit[] => {
    const name = node.type === "MethodDefinition" ? nameOf(nodeIn(node, "key")) : undefined;
    const body = nodeIn(nodeIn(node, "value") ?? node, "body");
    return name !== undefined && methods.test(name) && body ? [[body.start, body.end, "{}"]] : [];
  });
  return edited(source, edits);
}

/** Without the statements that register an error whose name is not in `known`. The general exception of the service stays. */
export function withoutErrors(source: string, known: string): string {
  const edits = nodesOf(source, "js").flatMap((node): Edit[] => {
    const call = node.type === "ExpressionStatement" ? nodeIn(node, "expression") : undefined;
    const given = call?.["arguments"];
    const error = Array.isArray(given) && isNode(given[1]) ? nameOf(given[1]) : undefined;
    const isRegistration = call !== undefined && memberOf(nodeIn(call, "callee")) === "registerError";
    if (!isRegistration || error === undefined || error.endsWith("ServiceException") || known.includes(error)) return [];
    return [[node.start, node.end, ""]];
  });
  return edited(source, edits);
}

/** Arrays with computed elements stay, used or not, unless the bundler knows that computing them has no effect. */
export function withPureArrays(source: string): string {
  const edits = nodesOf(source, "js").flatMap((node): Edit[] => {
    const init = node.type === "VariableDeclarator" ? nodeIn(node, "init") : undefined;
    return init?.type === "ArrayExpression" ? [[init.start, init.end, pure(source.slice(init.start, init.end))]] : [];
  });
  return edited(source, edits);
}
