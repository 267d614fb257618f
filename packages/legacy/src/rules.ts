// Rules for rows that cannot be imported unchanged. The report names the rules that applied to each row, and
// docs/reference/legacy-views.md explains the rules.

export const rules = {
  orphan: 'the parent of the row does not exist or was skipped: skipped',
  'name-fitted': 'the name, description or version violates a rule: adjusted',
  'slug-fitted': 'the slug violates a rule or is already used: adjusted',
  'clone-texts': 'the name, description or slug differs from that of the merged application',
  'second-clone': 'the tenant has two clones of one application: the second becomes a separate application',
  'template-settings': 'settings of a template that no tenant used: skipped',
  'settings-owner':
    'the row does not name exactly one project, tenant or application, or its owner already has a row: skipped',
  'settings-shape': 'unknown fields and fields with a wrong type were omitted',
  'role-twice': 'the person also has a higher role in the same tenant',
  'no-subject': 'the user id is not a UUID, so the person cannot sign in: skipped',
  'username-taken': 'another machine user of the project has the same user name: renamed; inform the owner',
  'token-shared': 'another machine user has the same token; the import keeps one user for both',
  'token-elsewhere': 'a machine user of another project has the same token: skipped',
  'no-credential': 'the row has no credential that can be verified: skipped',
  'registers-again': 'the callback token or URL cannot be used: skipped; the backend registers again',
  'registered-twice': 'the machine user has a newer registration for the application',
  'endpoint-variant':
    'other tenants use the path for another endpoint: the endpoint gets a separate path; inform its callers',
  'endpoint-texts': 'the name, description or log level differs from that of the merged endpoint',
  'endpoint-refused': 'the endpoint violates the rules for endpoints: skipped',
  'endpoint-no-secret': 'the endpoint needs a secret that the view does not provide: disabled',
  'caller-unknown': 'some callers of the endpoint are not machine users of its project',
  'pilet-refused': 'the name, version, size or hash is invalid: skipped',
  'version-taken': 'the project has different bytes under this name and version: skipped',
  'same-bytes': 'the project has the same bytes under this name and version',
  'prefix-taken': 'another token has the same prefix: skipped',
} as const

export type RuleName = keyof typeof rules
