// The API description in other tools' judgment: Redocly, and Spectral with OWASP's rules. A list explains the findings that we
// accept on purpose; we fixed everything else.
import { createConfig, lintFromString } from "@redocly/openapi-core";
import spectralCore from "@stoplight/spectral-core";
import owasp from "@stoplight/spectral-owasp-ruleset";
import spectralRulesets from "@stoplight/spectral-rulesets";
import { expect, test } from "vitest";
import { openapiDocument } from "../../shared/api/openapi/describe.ts";

interface Finding {
  rule: string;
  where: string;
  message: string;
}

interface Exception {
  rules: RegExp;
  where: RegExp;
  reason: string;
}

const PUBLIC = String.raw`paths//(auth/login|auth/login/second-factor|auth/login/passkey|auth/login/passkey/options|auth/sso/start|auth/sso/finish|auth/password-reset|auth/password-reset/confirm|auth/invitations/accept|health|openapi\.json|hooks/deploys/\{secret\})/`;

const EXCEPTIONS: readonly Exception[] = [
  {
    rules: /^owasp:api4:2023-(array-limit|integer-limit|string-limit|string-restricted)$/,
    where: /\/responses\/|^components\/(responses|headers|schemas)\//,
    reason: "Limits are for what is sent to the service. What it answers may grow within /api/v1, and clients must let it",
  },
  {
    rules: /^owasp:api4:2023-string-restricted$/,
    where:
      /\/(email|password|current_password|new_password|public_key|propertyNames|token|role_claim\/anyOf\/0|txt\/items)$|\/auth\/sso\/finish\/|\/filter\/additionalProperties\/|\/logs\/get\/parameters\//,
    reason:
      "Any text of that length is read: passwords and what is searched for are anybody's choice, filters have schemas of their own, names of claims, TXT records and codes of identity providers are theirs, and what is no key, address or link is told so in words",
  },
  {
    rules: /^owasp:api8:2023-define-cors-origin$/,
    where: /./,
    reason: "No CORS on purpose: the dashboard is of the same origin, and tokens do not belong in other sites' pages",
  },
  {
    rules: /^owasp:api4:2023-rate-limit$/,
    where: new RegExp(`^${PUBLIC}|/responses/(401|304)/`),
    reason: "Limits are counted per credential: who has none is shown none",
  },
  {
    rules: /^owasp:api2:2023-(write|read)-restricted$|^owasp:api8:2023-define-error-responses-401$/,
    where: new RegExp(`^${PUBLIC}`),
    reason: "Signing in, deploy hooks, health and this description are open to all",
  },
  {
    rules: /^owasp:api1:2023-no-numeric-ids$/,
    where: /^paths\/\/operations\/get\/parameters\//,
    reason: "It is one of three kinds of id, none of them a number: the rule does not look into a choice",
  },
  {
    rules: /^owasp:api2:2023-no-credentials-in-url$/,
    where: /^paths\/\/(?:users\/\{id\}\/delete|hooks\/deploys\/\{secret\}\/post)\/parameters\//,
    reason: "`revoke_tokens` is a yes or no, and no token; hosts of repositories call a hook by its URL alone, which no log has",
  },
  {
    rules: /^no-ambiguous-paths$/,
    where: /^paths\/\/(backups\/uploads|users\/invitations)\/\{id\}$/,
    reason: "`uploads` is the id of no backup, nor `invitations` of a user, and the gateway prefers what a path says literally",
  },
  {
    rules: /^info-license$/,
    where: /^info/,
    reason: "The service is nobody's to copy",
  },
];

/** The findings without the exceptions, and the exceptions that matched. */
function judge(findings: readonly Finding[]): { violations: Finding[]; met: Exception[] } {
  const exceptionFor = ({ rule, where }: Finding) => EXCEPTIONS.find((each) => each.rules.test(rule) && each.where.test(where));
  return {
    violations: findings.filter((finding) => exceptionFor(finding) === undefined),
    met: findings.flatMap((finding) => exceptionFor(finding) ?? []),
  };
}

async function redocly(source: string): Promise<Finding[]> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source, config });
  return problems.map(({ ruleId, message, location: [place] }) => ({
    rule: ruleId,
    message,
    where: (place?.pointer ?? "").replace(/^#\//, "").replaceAll("~1", "/"),
  }));
}

async function spectral(source: string): Promise<Finding[]> {
  const linter = new spectralCore.Spectral();
  // Their types and the linter's come from different versions.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const rulesets = [
    spectralRulesets.oas,
    "rules" in owasp ? owasp : owasp.default,
  ] as unknown as spectralCore.RulesetDefinition[];
  linter.setRuleset({ extends: rulesets });
  const problems = await linter.run(source);
  return problems.map(({ code, message, path }) => ({ rule: String(code), message, where: path.join("/") }));
}

const met = new Set<Exception>();

/** The description of the test environment, which has everything of live. */
const source = JSON.stringify(openapiDocument("test"));

test.each([
  ["Redocly", redocly],
  ["Spectral", spectral],
])("%s finds nothing in the OpenAPI description", async (_, lint) => {
  const verdict = judge(await lint(source));
  for (const exception of verdict.met) met.add(exception);
  expect(verdict.violations).toEqual([]);
});

test("every linter exception is still needed", () => {
  expect(EXCEPTIONS.filter((each) => !met.has(each))).toEqual([]);
});
