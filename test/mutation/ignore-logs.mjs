// A plugin for Stryker: what is logged is not changed, because no guarantee depends on it.

/** Whether a node is a call such as `log.warn(…)`, or the statement of one. */
const isLog = (node) =>
  (node.type === "ExpressionStatement" && isLog(node.expression)) ||
  (node.type === "CallExpression" &&
    node.callee.type === "MemberExpression" &&
    node.callee.object.type === "Identifier" &&
    node.callee.object.name === "log");

export const strykerPlugins = [
  {
    kind: "Ignore",
    name: "logs",
    value: { shouldIgnore: (path) => (isLog(path.node) ? "A log" : undefined) },
  },
];
