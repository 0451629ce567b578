// A module of a customer's own, as files of a repository.

export const manifestOf = (version: string, more: object = {}): string =>
  JSON.stringify({ name: "Acme prices", version, depends: ["base"], license: "LGPL-3", ...more });

/** `fields` are lines of the class that extends partners. */
const modelOf = (fields: string): string => `from odoo import fields, models

class Partner(models.Model):
    _inherit = "res.partner"
${fields}
`;

/** The module acme in a version, and one beside it that nobody has installed. */
export const acmeModule = (version: string, fields: string, more: Readonly<Record<string, string>> = {}) => ({
  "acme/__init__.py": "from . import models\n",
  "acme/__manifest__.py": manifestOf(version),
  "acme/models.py": modelOf(fields),
  "other/__init__.py": "",
  "other/__manifest__.py": manifestOf("19.0.1.0"),
  ...more,
});

/** A migration that changes data, then fails; it passes on the copy of a rehearsal, which has another name. */
export const LATE_FAILURE = `def migrate(cr, version):
    cr.execute("update res_partner set name = 'broken'")
    if cr.dbname != "drill":
        raise ValueError("This migration fails on the real data alone")
`;
