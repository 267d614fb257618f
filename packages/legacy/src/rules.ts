// Rules for rows that cannot be imported unchanged. The report names the rules of each row, and
// docs/reference/legacy-views.md explains them.

export const rules = {
  orphan: 'its parent does not exist or was skipped: skipped',
  'name-fitted': 'its name, description or version violates a rule: adjusted',
  'slug-fitted': 'its slug violates a rule or is already used: adjusted',
  'clone-texts': 'its name, description or slug differs from that of the merged application',
  'second-clone': 'its tenant has two clones of one application: the second becomes a separate application',
  'template-settings': 'settings of a template that no tenant used: skipped',
  'settings-owner':
    'it does not name exactly one project, tenant or application, or its owner already has a row: skipped',
  'settings-shape': 'unknown fields and fields of a wrong type were omitted',
  'role-twice': 'the person also has a higher role in the same tenant',
  'no-subject': 'the user id is not a UUID, so the person cannot sign in: skipped',
  'username-taken': 'another machine user of the project has the user name: renamed; inform its owner',
  'token-shared': 'another machine user has the same token and represents both',
  'token-elsewhere': 'a machine user of another project has the same token: skipped',
  'no-credential': 'it has no credential that can be verified: skipped',
  'registers-again': 'its callback token or URL cannot be used: skipped; the backend registers again',
  'registered-twice': 'the machine user has a newer registration for the application',
  'endpoint-variant':
    'other tenants use its path for another endpoint: it gets a separate path; inform its callers',
  'endpoint-texts': 'its name, description or log level differs from that of the merged endpoint',
  'endpoint-refused': 'it violates the rules for endpoints: skipped',
  'endpoint-no-secret': 'the endpoint needs a secret that the view does not provide: disabled',
  'caller-unknown': 'some of its callers are not machine users of its project',
  'pilet-refused': 'its name, version, size or hash is invalid: skipped',
  'version-taken': 'the project has different bytes under this name and version: skipped',
  'same-bytes': 'the project has the same bytes under this name and version',
  'prefix-taken': 'another token has the same prefix: skipped',
} as const

export type RuleName = keyof typeof rules
