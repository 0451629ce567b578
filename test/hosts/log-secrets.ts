// The forms in which secrets get into logs: what a log must not show.

/** Each has SECRET in the place of one. */
export const SECRETS = [
  ["a password of a URL", "connect postgres://odoo:SECRET@db/shop"],
  ["an assignment", "password=SECRET done"],
  ["another case, and spaces", "PassWord :  SECRET"],
  ["JSON", '{"db_password": "SECRET", "n": 1}'],
  ["JSON with a quote in it", '{"password": "not all \\"SECRET"}'],
  ["JSON in JSON", '{\\"password\\": \\"SECRET\\"}'],
  ["Python", "{'admin_password': 'SECRET and SECRET'}"],
  ["a quote that does not end", "password='SECRET and SECRET"],
  ["a parameter of a URL", "GET /web?db=shop&access_token=SECRET&x=1"],
  ["an encoded parameter", "GET /web?next=%2Fx%3Ftoken%3DSECRET"],
  ["an option", "odoo --db-password=SECRET --workers=2"],
  ["a header", "Authorization: Basic SECRET"],
  ["a header with parameters", 'authorization: Digest username="x", response="SECRET"'],
  ["a header in Python", "'Authorization': 'Bearer SECRET',"],
  ["a cookie", "Set-Cookie: a=1; other=SECRET; Path=/"],
  ["a session", "session_id=SECRET; Path=/"],
  ["a session of another kind", "sid=SECRET"],
  ["a bearer", "sent bearer SECRETSECRET to x"],
  ["a token in a sentence", "rejected the token SECRETSECRETSECRET of x"],
  ["a key", "api_key: SECRET, api-key=SECRET, X-Api-Key: SECRET"],
  ["a segment of a path", "GET /my/invoice/SECRETa1b2c3d4e5f60718293a4b5c6d7e8f9/pdf"],
  ["a token with dots in a path", `GET /verify/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0SECRET.${"SECRET".repeat(7)}/done`],
  [
    "a token with a long head",
    `GET /verify/eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJTRUNSRVQSECRET.${"SECRET".repeat(7)}`,
  ],
  ["a secret after a control character", "\x1b[31mpassword=SECRET\x1b[0m"],
  ["a secret beside bytes that are no text", "\ufffd\ufffdtoken=SECRET"],
] as const;
